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

/// Membership in a group of consumers, by either protocol. `GroupConsumer` reads the partitions.
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
    /// Classic protocol only; in KIP-848 the broker decides.
    std::int64_t session_timeout_ms = 45'000;
    std::int64_t heartbeat_interval_ms = 3'000;
    std::vector<ClassicAssignor> assignors{ClassicAssignor::range, ClassicAssignor::cooperative_sticky};
    /// KIP-848 only: group.remote.assignor.
    std::optional<std::string> remote_assignor;
    /// max.poll.interval.ms: how long others wait for this member in a rebalance.
    std::int64_t rebalance_timeout_ms = 300'000;
};

/// The topics that a member wants to read.
struct SubscribedTopics {
    /// Ascending; topics that do not exist may be among them.
    std::vector<std::string> names;
    /// Only existing topics.
    std::map<std::string, std::int32_t> partition_counts;

    friend bool operator==(const SubscribedTopics&, const SubscribedTopics&) = default;
};

/// The partition counts of existing topics, by Metadata; with `may_create` the cluster may create the others.
[[nodiscard]] Result<std::map<std::string, std::int32_t>> partition_counts(Cluster& cluster,
                                                                           const std::vector<std::string>& names,
                                                                           bool may_create);

/// A group member. The group considers it dead after a silence longer than the session. One thread.
class GroupMember {
  public:
    /// The reader of the partitions. The member calls it when they change.
    class Reader {
      public:
        virtual ~Reader() = default;
        /// The member is about to give up these partitions; commits made now still count.
        virtual void let_go(const std::set<TopicPartition>& partitions) = 0;
        /// Other members may own these partitions already: no commit is possible any more.
        virtual void lose(const std::set<TopicPartition>& partitions) = 0;
        [[nodiscard]] virtual Result<void> take(const std::set<TopicPartition>& partitions) = 0;
    };

    /// Sends nothing before `keep`. The cluster and the reader outlive the member.
    [[nodiscard]] static std::unique_ptr<GroupMember> make(Cluster& cluster, const MemberSettings& settings, Reader& reader);

    virtual ~GroupMember() = default;
    GroupMember() = default;
    GroupMember(const GroupMember&) = delete;
    GroupMember& operator=(const GroupMember&) = delete;

    /// Joins if necessary, takes part in a rebalance, and sends a heartbeat when one is due. Returns when the member has its
    /// partitions for now. Failures: those of the cluster, and final refusals of the group (INCONSISTENT_GROUP_PROTOCOL,
    /// FENCED_INSTANCE_ID, INVALID_SESSION_TIMEOUT ...).
    [[nodiscard]] virtual Result<void> keep(const SubscribedTopics& topics) = 0;
    /// Sends only a heartbeat, if one is due. Calls no function of the `Reader`, so a reader may call this while it processes
    /// records. Returns false if something has to change; `keep` does it.
    [[nodiscard]] virtual Result<bool> beat() = 0;
    /// When the next heartbeat is due.
    [[nodiscard]] virtual Instant next_beat() const = 0;
    /// The identity to commit with.
    [[nodiscard]] virtual CommittingMember identity() const = 0;
    /// Tells the member that a commit was refused: the group does not know it, or its generation, any more or yet.
    virtual void doubt() = 0;
    /// Leaves the group, so that others need not wait for the end of the session. A static member keeps its place.
    [[nodiscard]] virtual Result<void> leave() = 0;
};

}  // namespace partita::client
