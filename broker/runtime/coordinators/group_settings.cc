#include "broker/runtime/coordinators/group_settings.h"

namespace partita::runtime {

groups::GroupConfig group_settings(const config::BrokerConfig& config) {
    groups::GroupConfig groups;
    groups.min_session_timeout_ms = config.group_min_session_timeout_ms;
    groups.max_session_timeout_ms = config.group_max_session_timeout_ms;
    groups.initial_rebalance_delay_ms = config.group_initial_rebalance_delay_ms;
    groups.max_size = config.group_max_size;
    groups.offset_metadata_max_bytes = config.offset_metadata_max_bytes;
    groups.offsets_retention_ms = std::int64_t{config.offsets_retention_minutes} * 60'000;
    groups.offsets_retention_check_interval_ms = config.offsets_retention_check_interval_ms;
    groups.consumer_session_timeout_ms = config.group_consumer_session_timeout_ms;
    groups.consumer_heartbeat_interval_ms = config.group_consumer_heartbeat_interval_ms;
    groups.consumer_max_size = config.group_consumer_max_size;
    groups.consumer_assignment_interval_ms = config.group_consumer_assignment_interval_ms;
    groups.consumer_regex_refresh_interval_ms = config.group_consumer_regex_refresh_interval_ms;
    groups.migration_policy = groups::migration_policy(config.group_consumer_migration_policy);
    groups.consumer_assignors = config.group_consumer_assignors;
    return groups;
}

}  // namespace partita::runtime
