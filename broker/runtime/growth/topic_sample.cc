#include "broker/runtime/growth/topic_sample.h"

#include <vector>

#include "protocol/record_batch.h"

namespace partita::runtime {
namespace {

bool batch_has_keys(const Batch& batch) {
    bool has_key = false;
    // A batch that cannot be read to its end has told what it could.
    (void)for_each_record(batch, {}, [&](const RecordView& record) {
        has_key = record.key.has_value();
        return !has_key;
    });
    return has_key;
}

bool log_has_keys(const PartitionLog& log) {
    const Offset end = log.log_end_offset();
    if (end <= log.log_start_offset()) {
        return false;
    }
    const auto slice = log.read(end - 1, {.upper_bound = end, .max_bytes = 1, .minimum_one_batch = true});
    if (!slice || !slice->file || slice->first_batch_size == 0) {
        return false;
    }
    std::vector<std::byte> bytes(slice->first_batch_size);
    const auto read = slice->file->read_at(slice->position, bytes);
    if (!read || *read != bytes.size()) {
        return false;
    }
    const auto batch = parse_batch(bytes);
    return batch && !batch->header.attributes.is_control() && batch_has_keys(*batch);
}

}  // namespace

bool topic_has_keys(const TopicState& topic) {
    std::size_t sampled = 0;
    for (const std::shared_ptr<Partition>& partition : topic.partitions) {
        if (!partition->log->has_files()) {
            continue;
        }
        if (log_has_keys(*partition->log)) {
            return true;
        }
        if (++sampled == kSampledPartitionsMax) {
            return false;
        }
    }
    return false;
}

}  // namespace partita::runtime
