#include "broker/runtime/growth/topic_sample.h"

#include <string_view>

#include "broker/logs/batch_walk.h"
#include "broker/logs/log_bounds.h"

namespace partita::runtime {
namespace {

/// Looks at the newest batch.
class KeyVisitor final : public logs::BatchVisitor {
  public:
    bool batch(const Batch& batch) override {
        if (!batch.header.attributes.is_control()) {
            // A batch that cannot be read to its end still counts as far as it was read.
            (void)for_each_record(batch, {}, [this](const RecordView& record) {
                has_keys = record.key.has_value();
                return !has_keys;
            });
        }
        return false;
    }
    void damage(Offset, std::string_view) override {}

    bool has_keys = false;
};

bool log_has_keys(const PartitionLog& log) {
    const logs::LogBounds bounds = logs::log_bounds(log);
    KeyVisitor visitor;
    if (bounds.end > bounds.start) {
        // One byte, so that the walk reads only the newest batch.
        logs::BatchWalk(1).walk(log, bounds.end - 1, bounds.end, visitor);
    }
    return visitor.has_keys;
}

}  // namespace

bool topic_has_keys(const logs::TopicState& topic) {
    std::size_t sampled = 0;
    for (const std::shared_ptr<logs::Partition>& partition : topic.partitions) {
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
