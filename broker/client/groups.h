#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "broker/client/cluster.h"
#include "broker/client/partitions.h"

/// What coordinators say of the groups of consumers, classic ones and those of KIP-848 alike.
namespace partita::client {

struct ListedGroup {
    std::string id;
    std::string protocol_type;
    /// Empty where the broker is too old to say.
    std::string state;
    std::string type;
};

/// Groups of consumers on all brokers. Empty lists of states ("Stable") and types ("consumer") stand for all of them.
[[nodiscard]] Result<std::vector<ListedGroup>> list_groups(Cluster& cluster, const std::vector<std::string>& states,
                                                           const std::vector<std::string>& types);

/// Groups of every kind.
[[nodiscard]] Result<std::vector<ListedGroup>> list_all_groups(Cluster& cluster);

struct MemberDescription {
    std::string id;
    std::string instance_id;
    std::string client_id;
    std::string host;
    /// Ascending.
    std::vector<TopicPartition> assignment;
    std::vector<TopicPartition> target;
    /// The topics that it asks for by name. Empty where nobody says, or the member's own text cannot be read.
    std::vector<std::string> subscription;
    std::optional<std::int32_t> epoch;
    /// Whether a member of a group under migration speaks the new protocol already.
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

/// A group of consumers; refused with GROUP_ID_NOT_FOUND when there is none, unsupported when its members are something else.
[[nodiscard]] Result<GroupDescription> describe_group(Cluster& cluster, const std::string& id);

struct CommittedOffset {
    std::int64_t offset = 0;
    std::optional<std::int32_t> leader_epoch;
};

/// All that the group has committed.
[[nodiscard]] Result<std::map<TopicPartition, CommittedOffset>> committed_offsets(Cluster& cluster, const std::string& group);
/// What the group has committed of these partitions, for somebody who looks from outside; also of brokers that are too old to say
/// all (before Kafka 0.10.2).
[[nodiscard]] Result<std::map<TopicPartition, CommittedOffset>> committed_offsets(Cluster& cluster, const std::string& group,
                                                                                  const std::set<TopicPartition>& partitions);
/// What the group has committed of these partitions, for a member that is about to read them: it names them, as consumers do, by
/// which a broker tells it from somebody who looks at the group from outside. Refused (UNSTABLE_OFFSET_COMMIT) as long as a
/// transaction is to commit some of it.
[[nodiscard]] Result<std::map<TopicPartition, CommittedOffset>> stable_offsets(Cluster& cluster, const std::string& group,
                                                                               const std::set<TopicPartition>& partitions);
/// Commits for the group from outside of it. The failure is the first one of a partition.
[[nodiscard]] Result<void> commit_offsets(Cluster& cluster, const std::string& group,
                                          const std::map<TopicPartition, std::int64_t>& offsets);
/// Who commits: a member of the group in a generation or, with KIP-848, at an epoch.
struct CommittingMember {
    std::string id;
    std::int32_t generation = -1;
    std::optional<std::string> instance_id;
};
/// Commits for a member of the group; the same failures.
[[nodiscard]] Result<void> commit_offsets(Cluster& cluster, const std::string& group, const CommittingMember& member,
                                          const std::map<TopicPartition, CommittedOffset>& offsets);
/// Takes back what the group has committed of these partitions: for each whether it was done. Fails as a whole as the group does.
[[nodiscard]] Result<std::map<TopicPartition, ErrorCode>> delete_offsets(Cluster& cluster, const std::string& group,
                                                                         const std::vector<TopicPartition>& partitions);
[[nodiscard]] Result<void> delete_group(Cluster& cluster, const std::string& group);

}  // namespace partita::client
