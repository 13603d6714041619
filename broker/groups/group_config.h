#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/required.h"

namespace partita::groups {

/// The direction in which a group with members may change its type (`group.consumer.migration.policy`).
enum class MigrationPolicy : std::uint8_t { bidirectional, upgrade, downgrade, disabled };

/// The policy of this name, in any case; an unknown name counts as "disabled", the strictest policy.
[[nodiscard]] MigrationPolicy migration_policy(std::string_view name);

/// The first rebalance of a classic group waits at least this long for more members, even if `group.initial.rebalance.delay.ms`
/// is shorter or zero. If a join were answered within its own request, a member that starts at the same moment would be left out.
/// It would wait for the first one's next heartbeat (three seconds with most clients). If a member arrives during the wait, or
/// gets an id to return with, the rebalance waits once more. docs/performance.md has the figures.
inline constexpr std::int32_t kShortestInitialDelayMs = 3;
/// If the configured delay is shorter than kShortestInitialDelayMs, the whole wait ends after this time at the latest, even if
/// members still arrive.
inline constexpr std::int32_t kUnaskedInitialDelayMaxMs = 30;

/// The broker's settings for groups and offsets.
struct GroupConfig {
    Required<std::int32_t> min_session_timeout_ms;      ///< group.min.session.timeout.ms
    Required<std::int32_t> max_session_timeout_ms;      ///< group.max.session.timeout.ms
    Required<std::int32_t> initial_rebalance_delay_ms;  ///< group.initial.rebalance.delay.ms; see kShortestInitialDelayMs
    Required<std::int32_t> max_size;                    ///< group.max.size
    Required<std::int32_t> offset_metadata_max_bytes;   ///< offset.metadata.max.bytes
    Required<std::int64_t> offsets_retention_ms;        ///< offsets.retention.minutes
    Required<std::int64_t> offsets_retention_check_interval_ms;  ///< offsets.retention.check.interval.ms

    // Consumer groups (KIP-848)
    Required<std::int32_t> consumer_session_timeout_ms;         ///< group.consumer.session.timeout.ms
    Required<std::int32_t> consumer_heartbeat_interval_ms;      ///< group.consumer.heartbeat.interval.ms
    Required<std::int32_t> consumer_max_size;                   ///< group.consumer.max.size
    Required<std::int32_t> consumer_assignment_interval_ms;     ///< group.consumer.assignment.interval.ms
    Required<std::int32_t> consumer_regex_refresh_interval_ms;  ///< group.consumer.regex.refresh.interval.ms
    Required<MigrationPolicy> migration_policy;                 ///< group.consumer.migration.policy
    /// Names of the available assignors, the default first; at least one.
    Required<std::vector<std::string>> consumer_assignors;  ///< group.consumer.assignors

    // Share groups (KIP-932)
    Required<std::int32_t> share_session_timeout_ms;            ///< group.share.session.timeout.ms
    Required<std::int32_t> share_heartbeat_interval_ms;         ///< group.share.heartbeat.interval.ms
    Required<std::int32_t> share_max_size;                      ///< group.share.max.size
    Required<std::int32_t> share_assignment_interval_ms;        ///< group.share.assignment.interval.ms
    Required<std::int32_t> share_initialize_retry_interval_ms;  ///< group.share.initialize.retry.interval.ms
};

}  // namespace partita::groups
