#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "broker/client/classic_assignment.h"
#include "broker/client/cluster.h"
#include "broker/client/groups.h"
#include "broker/client/partitions.h"

/// Being a member of a group of consumers, by either protocol. What is done with the partitions is `GroupConsumer`'s.
namespace partita::client {

/// group.protocol: `classic` is JoinGroup, SyncGroup and Heartbeat, `consumer` is KIP-848.
enum class GroupProtocol : std::uint8_t { classic, consumer };

/// How a member behaves, with the names and defaults of Kafka's consumer.
struct MemberSettings {
    std::string group;
    /// group.instance.id: a static member, which keeps its place when it is away for less than its session.
    std::optional<std::string> instance_id;
    std::optional<std::string> rack;
    GroupProtocol protocol = GroupProtocol::classic;
    /// Of the classic protocol only; with the other one the broker says.
    std::int64_t session_timeout_ms = 45'000;
    std::int64_t heartbeat_interval_ms = 3'000;
    std::vector<ClassicAssignor> assignors{ClassicAssignor::range, ClassicAssignor::cooperative_sticky};
    /// Of KIP-848 only: group.remote.assignor.
    std::optional<std::string> remote_assignor;
    /// max.poll.interval.ms: how long others wait for this member in a rebalance.
    std::int64_t rebalance_timeout_ms = 300'000;
};

/// What a member wants to read.
struct SubscribedTopics {
    /// Ascending; topics that are not there may be among them.
    std::vector<std::string> names;
    /// Of those that are there.
    std::map<std::string, std::int32_t> partition_counts;

    friend bool operator==(const SubscribedTopics&, const SubscribedTopics&) = default;
};

/// The counts of topics that are there, by Metadata; `may_create` lets the cluster create the others.
[[nodiscard]] Result<std::map<std::string, std::int32_t>> partition_counts(Cluster& cluster,
                                                                           const std::vector<std::string>& names,
                                                                           bool may_create);

/// One thread. Whoever is silent for longer than the session is taken for dead by the group.
class GroupMember {
  public:
    /// Who reads the partitions, and is told when they change.
    class Reader {
      public:
        virtual ~Reader() = default;
        /// The member is about to let go of these; what is committed now still counts.
        virtual void let_go(const std::set<TopicPartition>& partitions) = 0;
        /// Others may have these already: nothing can be committed any more.
        virtual void lose(const std::set<TopicPartition>& partitions) = 0;
        [[nodiscard]] virtual Result<void> take(const std::set<TopicPartition>& partitions) = 0;
    };

    /// The cluster and the reader outlive the member. Nothing is sent before `keep`.
    [[nodiscard]] static std::unique_ptr<GroupMember> make(Cluster& cluster, const MemberSettings& settings, Reader& reader);

    virtual ~GroupMember() = default;
    GroupMember() = default;
    GroupMember(const GroupMember&) = delete;
    GroupMember& operator=(const GroupMember&) = delete;

    /// Joins where that is needed, goes along with a rebalance, and lets the group know that this member lives when that is due.
    /// Returns when the member has what it is to have for now. Failures: of the cluster, and what a group refuses for good
    /// (INCONSISTENT_GROUP_PROTOCOL, FENCED_INSTANCE_ID, INVALID_SESSION_TIMEOUT ...).
    [[nodiscard]] virtual Result<void> keep(const SubscribedTopics& topics) = 0;
    /// Only the sign of life, when it is due: for a reader that is busy, which hears nothing from it. False: something is to
    /// change, `keep` does it.
    [[nodiscard]] virtual Result<bool> beat() = 0;
    /// When the next sign of life is due.
    [[nodiscard]] virtual Instant next_beat() const = 0;
    /// As whom to commit.
    [[nodiscard]] virtual CommittingMember identity() const = 0;
    /// The group said to a commit that this member, or its generation, is no more, or not yet.
    virtual void doubt() = 0;
    /// Says good-bye, so that others need not wait for the end of a session. A static member keeps its place.
    [[nodiscard]] virtual Result<void> leave() = 0;
};

}  // namespace partita::client
