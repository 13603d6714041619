#pragma once

#include <cstdint>

namespace partita::handlers {

/// What anybody may do while nothing is authorised, as bit fields of Kafka's AclOperation: bit n stands
/// for the operation with code n (READ 3, WRITE 4, CREATE 5, DELETE 6, ALTER 7, DESCRIBE 8,
/// CLUSTER_ACTION 9, DESCRIBE_CONFIGS 10, ALTER_CONFIGS 11, IDEMPOTENT_WRITE 12).
inline constexpr std::int32_t kAllTopicOperations =
    1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 11;
inline constexpr std::int32_t kAllClusterOperations =
    1 << 5 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12;
inline constexpr std::int32_t kAllGroupOperations = 1 << 3 | 1 << 6 | 1 << 8 | 1 << 10 | 1 << 11;

}  // namespace partita::handlers
