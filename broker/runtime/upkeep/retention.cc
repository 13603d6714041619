#include "broker/runtime/upkeep/retention.h"

#include <limits>
#include <memory>

#include "broker/catalog/internal_topics.h"
#include "broker/config/log_setup.h"
#include "broker/logs/published_topics.h"
#include "broker/logs/turns.h"
#include "broker/runtime/upkeep/keyed_logs.h"

namespace partita::runtime {

void Retention::begin(Instant now) {
    next_retention_ = now + config_->log_initial_task_delay_ms;
    next_expiry_ = now + config_->producer_id_expiration_check_interval_ms;
}

void Retention::run_due(Now now) {
    if (next_retention_ <= now.monotonic) {
        apply(now);
        next_retention_ = now.monotonic + config_->log_retention_check_interval_ms;
    }
    if (next_expiry_ <= now.monotonic) {
        expire_producers(now);
        next_expiry_ = now.monotonic + config_->producer_id_expiration_check_interval_ms;
    }
}

void Retention::apply(Now now) {
    const std::shared_ptr<const logs::TopicTable> table = topics_.table();
    table->for_each([&](const logs::TopicState& state) {
        const bool is_keyed = catalog::holds_coordinators(state.topic->name);
        for (const std::shared_ptr<logs::Partition>& partition : state.partitions) {
            PartitionLog& partition_log = *partition->log;
            if (!partition_log.has_files()) {
                continue;
            }
            Offset keep_from{std::numeric_limits<std::int64_t>::max()};
            if (is_keyed) {
                // Records that LMDB does not have yet must stay, regardless of the topic's cleanup.policy.
                keep_from = keyed_logs_.folded_until(partition_log);
            }
            const auto removed = partition_log.apply_retention(now.wall, keep_from);
            if (!removed) {
                log::warning("storage", "retention failed",
                             {{"partition", partition_log.directory_name()}, {"reason", removed.error().message}});
            } else if (!removed->empty()) {
                log::info("storage", "retention removed segments",
                          {{"partition", partition_log.directory_name()},
                           {"segments", removed->size()},
                           {"log_start_offset", partition_log.log_start_offset().value}});
                turns_.post_change(*partition);
                bell_.data_written();
            }
        }
    });
}

void Retention::expire_producers(Now now) {
    const std::shared_ptr<const logs::TopicTable> table = topics_.table();
    table->for_each([&](const logs::TopicState& state) {
        for (const std::shared_ptr<logs::Partition>& partition : state.partitions) {
            if (partition->log->has_files()) {
                partition->log->expire_producers(now.wall);
            }
        }
    });
}

}  // namespace partita::runtime
