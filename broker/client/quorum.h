#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "broker/client/cluster.h"
#include "broker/client/partitions.h"
#include "protocol/types.h"

/// Requests about a cluster's controllers, features and leaders.
namespace partita::client {

struct QuorumReplica {
    std::int32_t id = -1;
    /// Zero if unknown.
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
/// Describes the quorum of the metadata log.
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
    /// Epoch of the finalized features; -1: unknown.
    std::int64_t epoch = -1;
};
/// The features that one broker reports to a new connection.
[[nodiscard]] Result<Features> describe_features(Cluster& cluster, std::optional<std::int32_t> node);

enum class UpgradeType : std::int8_t { upgrade = 1, safe_downgrade = 2, unsafe_downgrade = 3 };
/// Sets levels by feature: all of them or none. The failure's text names the feature at fault.
[[nodiscard]] Result<void> update_features(Cluster& cluster, const std::map<std::string, std::int16_t>& levels, UpgradeType type,
                                           bool only_validates);

enum class ElectionType : std::int8_t { preferred = 0, unclean = 1 };
/// Elects leaders for these partitions; null: for all that need it. Returns each outcome (a failure without a code means
/// success).
[[nodiscard]] Result<std::map<TopicPartition, Failure>> elect_leaders(Cluster& cluster, ElectionType type,
                                                                      const std::optional<std::set<TopicPartition>>& partitions);

}  // namespace partita::client
