#include "broker/runtime/settings/group_settings.h"

namespace partita::runtime {

groups::GroupConfig group_settings(const config::BrokerConfig& config) {
    return {
        .min_session_timeout_ms = config.group_min_session_timeout_ms,
        .max_session_timeout_ms = config.group_max_session_timeout_ms,
        .initial_rebalance_delay_ms = config.group_initial_rebalance_delay_ms,
        .max_size = config.group_max_size,
        .offset_metadata_max_bytes = config.offset_metadata_max_bytes,
        .offsets_retention_ms = std::int64_t{config.offsets_retention_minutes} * 60'000,
        .offsets_retention_check_interval_ms = config.offsets_retention_check_interval_ms,
        .consumer_session_timeout_ms = config.group_consumer_session_timeout_ms,
        .consumer_heartbeat_interval_ms = config.group_consumer_heartbeat_interval_ms,
        .consumer_max_size = config.group_consumer_max_size,
        .consumer_assignment_interval_ms = config.group_consumer_assignment_interval_ms,
        .consumer_regex_refresh_interval_ms = config.group_consumer_regex_refresh_interval_ms,
        .migration_policy = groups::migration_policy(config.group_consumer_migration_policy),
        .consumer_assignors = config.group_consumer_assignors,
        .share_session_timeout_ms = config.group_share_session_timeout_ms,
        .share_heartbeat_interval_ms = config.group_share_heartbeat_interval_ms,
        .share_max_size = config.group_share_max_size,
        .share_assignment_interval_ms = config.group_share_assignment_interval_ms,
        .share_initialize_retry_interval_ms = config.group_share_initialize_retry_interval_ms,
    };
}

}  // namespace partita::runtime
