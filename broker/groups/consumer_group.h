#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "broker/assignors/assignment.h"
#include "broker/groups/cluster_view.h"
#include "broker/groups/consumer_protocol.h"
#include "broker/groups/group.h"
#include "broker/groups/group_kind.h"
#include "broker/groups/history_notes.h"
#include "broker/groups/member_assignment.h"
#include "broker/groups/member_subscription.h"
#include "broker/groups/records.h"
#include "broker/groups/results.h"
#include "broker/groups/timer_queue.h"
#include "protocol/text_map.h"
#include "protocol/types.h"

/// State of a KIP-848 consumer group, and the rules that need only this state. Except for timers and one note, it is durable:
/// only `apply` of a record changes it, both for new records and in a replay.

namespace partita::groups {

struct ConsumerMember;

/// Member epochs with a special meaning.
inline constexpr std::int32_t kJoiningEpoch = 0;
inline constexpr std::int32_t kLeavingEpoch = -1;
/// A static member left and will return: the group keeps its place for a session.
inline constexpr std::int32_t kStaticLeavingEpoch = -2;

/// The first epoch of a new group; its first member raises it to 2 (KIP-1263).
inline constexpr std::int32_t kInitialGroupEpoch = 1;

enum class ConsumerTimerKind : std::uint8_t {
    session,    ///< A member was silent for too long.
    rebalance,  ///< The member did not give up its partitions in time.
    join,       ///< A classic member was told to rejoin and did not.
    sync,       ///< The member rejoined and did not fetch its assignment.
};

/// Every timer of a consumer group is one of these.
struct ConsumerTimer : Timer {
    ConsumerTimer(ConsumerTimerKind timer_kind, Group& timer_group, const ConsumerMember& timer_member)
        : Timer(&timer_group), kind(timer_kind), member(timer_member) {}

    const ConsumerTimerKind kind;
    const ConsumerMember& member;
};

struct ConsumerMember {
    ConsumerMember(Group& group, std::string_view member_id)
        : id(member_id),
          session_timer(ConsumerTimerKind::session, group, *this),
          rebalance_timer(ConsumerTimerKind::rebalance, group, *this),
          join_timer(ConsumerTimerKind::join, group, *this),
          sync_timer(ConsumerTimerKind::sync, group, *this) {}

    const std::string id;
    MemberSubscription subscription;
    MemberProgress progress;
    /// The member's target assignment; unset until a target assignment includes the member.
    std::optional<assignors::Assignment> target;

    // Volatile: holders of a const member may change only this

    mutable ConsumerTimer session_timer;
    /// Runs while the member has partitions to give up.
    mutable ConsumerTimer rebalance_timer;
    /// They run while a classic member has to rejoin or to fetch its assignment.
    mutable ConsumerTimer join_timer;
    mutable ConsumerTimer sync_timer;

    [[nodiscard]] bool is_static() const { return subscription.instance_id.has_value(); }
    /// The protocol that the member uses.
    [[nodiscard]] GroupType protocol() const { return subscription.classic ? GroupType::classic : GroupType::consumer; }
    [[nodiscard]] bool speaks_classic() const { return protocol() == GroupType::classic; }
};

struct ResolvedRegex {
    std::set<std::string> topics;
    /// The version of the cluster metadata at the resolution.
    std::int64_t version = 0;
    TimestampMs timestamp;
};

enum class ConsumerGroupState : std::uint8_t { empty, assigning, reconciling, stable };

/// Kafka's name, for example "Reconciling".
[[nodiscard]] std::string_view state_name(ConsumerGroupState state);

class ConsumerGroup final : public GroupKind {
  public:
    static constexpr GroupType kType = GroupType::consumer;

    ConsumerGroup(Group& group, TimestampMs /*since*/) : GroupKind(group, kType) {}

    // The only way to change the group; only `GroupTable` calls it. A record of an unknown member creates the member. A tombstone
    // of something unknown does nothing, because compaction may have removed its record.

    void apply(const ConsumerGroupEpochRecord& record);
    void apply(const ConsumerMemberRecord& record);
    void apply(const TargetAssignmentEpochRecord& record);
    void apply(const TargetAssignmentRecord& record);
    void apply(const CurrentAssignmentRecord& record);
    void apply(const RegularExpressionRecord& record);
    /// Removes the tombstone's object. Returns true if this is the group itself, which then ends.
    [[nodiscard]] bool apply(const ConsumerGroupTombstone& record);
    void foretell(const ConsumerGroupEpochRecord& record, HistoryNotes& notes) const;
    void foretell(const CurrentAssignmentRecord& record, HistoryNotes& notes) const;

    [[nodiscard]] std::int32_t epoch() const { return epoch_; }
    [[nodiscard]] std::int64_t metadata_hash() const { return metadata_hash_; }
    [[nodiscard]] std::int32_t assignment_epoch() const { return assignment_epoch_; }
    /// When the target assignment was computed; 0 before the first time.
    [[nodiscard]] TimestampMs assignment_timestamp() const { return assignment_timestamp_; }
    [[nodiscard]] ConsumerGroupState state() const;

    /// Ascending by id.
    [[nodiscard]] const std::map<std::string, ConsumerMember, std::less<>>& members() const { return members_; }
    [[nodiscard]] std::size_t size() const override { return members_.size(); }
    [[nodiscard]] bool empty() const override { return members_.empty(); }
    [[nodiscard]] bool has_member(std::string_view member_id) const override { return find(member_id) != nullptr; }
    [[nodiscard]] std::optional<MemberHoldings> holdings_of(std::string_view member_id,
                                                            const ClusterView& cluster) const override;
    [[nodiscard]] const ConsumerMember* find(std::string_view member_id) const;
    [[nodiscard]] const ConsumerMember* find_static(std::string_view instance_id) const;

    /// The member that holds the partition, or still has to give it up. Null if the partition is free.
    [[nodiscard]] const ConsumerMember* owner(const TopicId& topic_id, std::int32_t partition) const;

    [[nodiscard]] std::size_t classic_member_count() const { return classic_members_; }
    /// True if all classic members support one of these protocols.
    [[nodiscard]] bool supports_classic(std::string_view protocol_type, std::span<const std::string_view> names) const;

    /// The assignor that most members name; members that name none do not count.
    [[nodiscard]] std::optional<std::string> preferred_assignor() const;

    /// The number of members that subscribe with this expression.
    [[nodiscard]] std::size_t regex_subscribers(std::string_view regex) const;
    [[nodiscard]] const TextMap<std::size_t>& regexes() const { return regexes_; }
    /// Null before the first resolution.
    [[nodiscard]] const ResolvedRegex* resolved(std::string_view regex) const;
    [[nodiscard]] const std::map<std::string, ResolvedRegex, std::less<>>& resolved_regexes() const { return resolved_; }
    [[nodiscard]] bool is_subscribed_to(std::string_view topic) const override;
    [[nodiscard]] bool knows_subscriptions() const override { return true; }
    /// The topics that members subscribe to by name or by expression, existing or not; ascending.
    [[nodiscard]] std::vector<std::string_view> subscribed_topics() const;
    /// The existing topics that the member subscribes to, ascending.
    [[nodiscard]] std::vector<TopicId> subscribed_topic_ids(const ConsumerMember& member, const ClusterView& cluster) const;

    // Questions to every kind

    [[nodiscard]] std::string_view state_text() const override { return state_name(state()); }
    [[nodiscard]] std::string_view protocol_type_text() const override { return kConsumerProtocolType; }
    [[nodiscard]] std::string_view assignor() const override { return {}; }
    void list_topics(ReaderListing& listing) const override;
    void tell_readers(ReaderCollector& collector) const override;
    [[nodiscard]] ErrorCode refuse_commit(const OffsetCommit& command, CommitKind kind) const override;
    /// Refuses members whose partitions may belong to another member.
    [[nodiscard]] ErrorCode refuse_fetch(const OffsetFetch::Group& wanted) const override;
    /// A commit does not extend the session; only heartbeats do.
    void committed(std::string_view, TimerQueue&, Now) override {}
    [[nodiscard]] OffsetUse offset_use() const override { return {}; }
    void end(GroupTable& table, Effects& effects) const override;
    [[nodiscard]] std::string dump() const override;
    [[nodiscard]] GroupPhase phase() const override;
    void begin_history(GroupHistory& history, const ClusterView& cluster) const override;

    /// Volatile: the metadata version of the last comparison with `metadata_hash`; -1 after a start.
    mutable std::int64_t seen_metadata_version = -1;

  private:
    [[nodiscard]] ConsumerMember* find_to_change(std::string_view member_id);
    ConsumerMember& find_or_add(std::string_view member_id);
    void remove(std::string_view member_id);
    void count_subscription(const ConsumerMember& member, std::int32_t change);
    void own(const ConsumerMember& member, const OwnedAssignment& assignment);
    void disown(const ConsumerMember& member, const OwnedAssignment& assignment);

    std::int32_t epoch_ = kInitialGroupEpoch;
    std::int64_t metadata_hash_ = 0;
    std::int32_t assignment_epoch_ = kInitialGroupEpoch;
    TimestampMs assignment_timestamp_{0};
    // Its nodes have stable addresses.
    std::map<std::string, ConsumerMember, std::less<>> members_;
    /// Keys are the instance ids inside the members.
    TextMap<const ConsumerMember*> by_instance_id_;
    std::unordered_map<TopicId, std::unordered_map<std::int32_t, const ConsumerMember*>> owners_;
    std::size_t classic_members_ = 0;
    // The number of members that name each of these.
    TextMap<std::size_t> topic_names_;
    TextMap<std::size_t> regexes_;
    TextMap<std::size_t> classic_protocols_;
    std::map<std::string, std::size_t, std::less<>> assignors_;
    std::map<std::string, ResolvedRegex, std::less<>> resolved_;
};

[[nodiscard]] MemberNames names_of(const ConsumerMember& member);
[[nodiscard]] MemberNames names_of(std::string_view member_id, const MemberSubscription& subscription);

}  // namespace partita::groups
