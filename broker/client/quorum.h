#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "broker/client/cluster.h"
#include "broker/client/partitions.h"
#include "protocol/types.h"

/// What a cluster says of its controllers, its features and its leaders.
namespace partita::client {

struct QuorumReplica {
    std::int32_t id = -1;
    /// Zero where nobody says.
    Uuid directory;
    std::int64_t log_end_offset = -1;
    /// Milliseconds since 1970; -1: unknown.
    std::int64_t last_fetch_ms = -1;
    std::int64_t last_caught_up_ms = -1;
};
struct Quorum {
    std::int32_t leader = -1;
    std::int32_t leader_epoch = -1;
    std::int64_t high_watermark = -1;
    std::vector<QuorumReplica> voters;
    std::vector<QuorumReplica> observers;
    /// "CONTROLLER://host:9093", by node.
    std::map<std::int32_t, std::vector<std::string>> endpoints;
};
/// Of the metadata log.
[[nodiscard]] Result<Quorum> describe_quorum(Cluster& cluster);

struct FeatureLevel {
    std::string name;
    std::int16_t least = 0;
    std::int16_t most = 0;
    /// 0: off.
    std::int16_t finalized = 0;
};
struct Features {
    /// Ascending by name.
    std::vector<FeatureLevel> levels;
    /// Of the finalized ones; -1: unknown.
    std::int64_t epoch = -1;
};
/// As one broker says when somebody connects to it.
[[nodiscard]] Result<Features> describe_features(Cluster& cluster, std::optional<std::int32_t> node);

enum class UpgradeType : std::int8_t { upgrade = 1, safe_downgrade = 2, unsafe_downgrade = 3 };
/// Levels by feature; all of them or none. The failure's text names the feature that is to blame.
[[nodiscard]] Result<void> update_features(Cluster& cluster, const std::map<std::string, std::int16_t>& levels, UpgradeType type,
                                           bool only_validates);

enum class ElectionType : std::int8_t { preferred = 0, unclean = 1 };
/// Elects leaders of these partitions, or of all that need it when the list is null; what became of each
/// (a failure without a code: it is done).
[[nodiscard]] Result<std::map<TopicPartition, Failure>> elect_leaders(Cluster& cluster, ElectionType type,
                                                                      const std::optional<std::set<TopicPartition>>& partitions);

}  // namespace partita::client
