#include "broker/runtime/settings/log_settings.h"

#include <algorithm>

namespace partita::runtime {

LogConfig log_settings(const config::TopicConfig& topic, const config::BrokerConfig& broker) {
    return {
        .segment_bytes = topic.segment_bytes,
        // The compactor never touches the active segment. Rolling it this early lets a log be compacted within
        // max.compaction.lag.ms.
        .segment_ms = topic.cleanup_compact && topic.max_compaction_lag_ms > 0
                          ? std::min(topic.segment_ms, topic.max_compaction_lag_ms)
                          : topic.segment_ms,
        .segment_jitter_ms = topic.segment_jitter_ms,
        .segment_index_bytes = topic.segment_index_bytes,
        .index_interval_bytes = topic.index_interval_bytes,
        .retention_ms = topic.retention_ms,
        .retention_bytes = topic.retention_bytes,
        .delete_old_segments = topic.cleanup_delete,
        .compact = topic.cleanup_compact,
        .min_cleanable_dirty_ratio = topic.min_cleanable_dirty_ratio,
        .min_compaction_lag_ms = topic.min_compaction_lag_ms,
        .max_compaction_lag_ms = topic.max_compaction_lag_ms,
        .delete_retention_ms = topic.delete_retention_ms,
        .producer_id_expiration_ms = broker.producer_id_expiration_ms,
    };
}

}  // namespace partita::runtime
