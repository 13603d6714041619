#include "broker/insight/local/log_record_fates.h"

#include <algorithm>
#include <array>
#include <optional>

#include "broker/logs/topic_table.h"
#include "protocol/record_batch.h"
#include "storage/partition_log.h"

namespace partita::insight {
namespace {

/// The header of the batch that holds the record.
std::optional<BatchHeader> header_at(const PartitionLog& log, Offset offset) {
    const auto slice = log.read(offset, {.upper_bound = log.high_watermark(), .max_bytes = 1, .minimum_one_batch = true});
    std::array<std::byte, kBatchHeaderBytes> bytes;
    if (!slice || !slice->file || slice->size < bytes.size()) {
        return std::nullopt;
    }
    const auto read = slice->file->read_at(slice->position, bytes);
    if (!read || *read != bytes.size()) {
        return std::nullopt;
    }
    const auto header = parse_batch_header(bytes);
    return header ? std::optional(*header) : std::nullopt;
}

}  // namespace

RecordFate LogRecordFates::of(PartitionIndex partition, Offset offset) const {
    const logs::Partition* state = topic_.partition(partition.value);
    if (state == nullptr) {
        return RecordFate::stands;
    }
    const PartitionLog& log = *state->log;
    // Check this first: a transaction that is decided meanwhile shows up below.
    const bool is_stable = offset < log.last_stable_offset();
    if (is_stable && !log.has_aborted_transactions(offset)) {
        return RecordFate::stands;
    }
    const std::optional<BatchHeader> header = header_at(log, offset);
    // The cleaner removed the batch, maybe because it was aborted. A record that no reader can be given proves nothing.
    if (header && header->base_offset > offset) {
        return RecordFate::aborted;
    }
    if (!header || !header->attributes.is_transactional()) {
        return RecordFate::stands;
    }
    if (!is_stable) {
        return RecordFate::undecided;
    }
    const auto aborted = log.aborted_transactions(offset, offset + 1);
    const auto is_of_producer = [&](const AbortedTransactionSummary& one) {
        return one.producer_id == header->producer_id && one.first_offset <= offset;
    };
    return aborted && std::ranges::any_of(*aborted, is_of_producer) ? RecordFate::aborted : RecordFate::stands;
}

}  // namespace partita::insight
