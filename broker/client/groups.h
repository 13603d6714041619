#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "broker/client/cluster.h"
#include "broker/client/partitions.h"

/// Descriptions and offsets of consumer groups, classic ones and those of KIP-848 alike, as their coordinators report them.
namespace partita::client {

struct ListedGroup {
    std::string id;
    std::string protocol_type;
    /// Empty if the broker is too old to report it.
    std::string state;
    std::string type;
};

/// Lists consumer groups on all brokers. Empty lists of states ("Stable") and types ("consumer") match all.
[[nodiscard]] Result<std::vector<ListedGroup>> list_groups(Cluster& cluster, const std::vector<std::string>& states,
                                                           const std::vector<std::string>& types);

/// Lists groups of every kind.
[[nodiscard]] Result<std::vector<ListedGroup>> list_all_groups(Cluster& cluster);

struct MemberDescription {
    std::string id;
    std::string instance_id;
    std::string client_id;
    std::string host;
    /// Ascending.
    std::vector<TopicPartition> assignment;
    std::vector<TopicPartition> target;
    /// The topics that the member subscribes to by name. Empty if unknown, or if the member's own text cannot be decoded.
    std::vector<std::string> subscription;
    std::optional<std::int32_t> epoch;
    /// Whether a member of a group under migration already uses the new protocol.
    std::optional<bool> is_upgraded;
};

struct GroupDescription {
    std::string id;
    std::string state;
    /// "consumer"; empty for a group that only stores offsets.
    std::string protocol_type;
    std::string assignor;
    Node coordinator;
    std::vector<MemberDescription> members;
    std::optional<std::int32_t> epoch;
    std::optional<std::int32_t> target_epoch;
};

/// Describes a consumer group. Refused with GROUP_ID_NOT_FOUND if it does not exist; unsupported if its members are not
/// consumers.
[[nodiscard]] Result<GroupDescription> describe_group(Cluster& cluster, const std::string& id);

struct CommittedOffset {
    std::int64_t offset = 0;
    std::optional<std::int32_t> leader_epoch;
};

/// Everything that the group has committed.
[[nodiscard]] Result<std::map<TopicPartition, CommittedOffset>> committed_offsets(Cluster& cluster, const std::string& group);
/// The group's committed offsets of these partitions, for a caller outside the group. Also works with brokers that cannot list
/// all offsets (before Kafka 0.10.2).
[[nodiscard]] Result<std::map<TopicPartition, CommittedOffset>> committed_offsets(Cluster& cluster, const std::string& group,
                                                                                  const std::set<TopicPartition>& partitions);
/// The group's committed offsets of these partitions, for a member that is about to read them. It names the partitions, as
/// consumers do; by this a broker tells it from an outside caller. Refused (UNSTABLE_OFFSET_COMMIT) while a transaction has
/// uncommitted offsets among them.
[[nodiscard]] Result<std::map<TopicPartition, CommittedOffset>> stable_offsets(Cluster& cluster, const std::string& group,
                                                                               const std::set<TopicPartition>& partitions);
/// Commits for the group from outside of it. The failure is that of the first refused partition.
[[nodiscard]] Result<void> commit_offsets(Cluster& cluster, const std::string& group,
                                          const std::map<TopicPartition, std::int64_t>& offsets);
/// The committing member, in a generation or, with KIP-848, at an epoch.
struct CommittingMember {
    std::string id;
    std::int32_t generation = -1;
    std::optional<std::string> instance_id;
};
/// Commits for a member of the group; fails like the call above.
[[nodiscard]] Result<void> commit_offsets(Cluster& cluster, const std::string& group, const CommittingMember& member,
                                          const std::map<TopicPartition, CommittedOffset>& offsets);
/// Deletes the group's committed offsets of these partitions. Returns the outcome of each. Fails as a whole if the group refuses.
[[nodiscard]] Result<std::map<TopicPartition, ErrorCode>> delete_offsets(Cluster& cluster, const std::string& group,
                                                                         const std::vector<TopicPartition>& partitions);
[[nodiscard]] Result<void> delete_group(Cluster& cluster, const std::string& group);

}  // namespace partita::client
