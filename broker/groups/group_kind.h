#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "broker/groups/cluster_view.h"
#include "broker/groups/commands.h"
#include "broker/groups/effects.h"
#include "broker/groups/topic_readers.h"
#include "broker/insight/history/group_history.h"
#include "protocol/error_code.h"
#include "protocol/group_type.h"
#include "protocol/types.h"

/// The interface of every kind of groups. The rest of the coordinator uses these operations and never asks for the kind.
///
/// A new kind consists of a `GroupKind`, which is the state of one group, of a class that satisfies `GroupRules`, which decides
/// what happens to groups of the kind, and of the kind's commands and records. The list of `GroupCoordinator::Core` is the only
/// place that names the kind.

namespace partita::groups {

struct Group;
class GroupTable;
class ReaderCollector;
class ReaderListing;
class Timer;
class TimerQueue;

/// Whether a commit is part of a transaction. Old producers do not name their member; the coordinator trusts them.
enum class CommitKind : std::uint8_t { plain, transactional };

/// Which offsets of a group may expire: those of topics without a subscribed member.
struct OffsetUse {
    /// All offsets are in use, regardless of their topics.
    bool is_everything_used = false;
    /// Since when the group has had no members. Unset: each offset is unused since its commit.
    std::optional<TimestampMs> unused_since;
};

/// The state of a group besides its name and its offsets: its members, and answers about them. One object belongs to one group.
/// If the group changes its kind, the object is destroyed.
///
/// Only `apply(record)` changes its durable part. Each record type names its kind (`Record::Of`). The kind has an `apply` for the
/// record, which returns true if the record ends the group, or returns nothing if it never does. A kind that reports to the
/// history has a `foretell(record, notes)` too; the table calls it before it applies a new record, but not in a replay.
class GroupKind {
  public:
    GroupKind(Group& group, GroupType type) : group_(group), type_(type) {}
    virtual ~GroupKind() = default;
    GroupKind(const GroupKind&) = delete;
    GroupKind& operator=(const GroupKind&) = delete;

    [[nodiscard]] Group& group() { return group_; }
    [[nodiscard]] const Group& group() const { return group_; }
    [[nodiscard]] const std::string& id() const;

    // For lists

    [[nodiscard]] GroupType type() const { return type_; }
    /// Kafka's name, for example "Stable".
    [[nodiscard]] virtual std::string_view state_text() const = 0;
    /// "consumer", "connect"; empty for a group that only stores offsets.
    [[nodiscard]] virtual std::string_view protocol_type_text() const = 0;
    /// The assignor of the group's generation ("range"); empty before the first choice, and for kinds that never name one.
    [[nodiscard]] virtual std::string_view assignor() const = 0;

    // Members

    [[nodiscard]] virtual std::size_t size() const = 0;
    /// True if the group has no members and is not rebalancing.
    [[nodiscard]] virtual bool empty() const = 0;
    [[nodiscard]] virtual bool has_member(std::string_view member_id) const = 0;
    /// Null if the member is unknown.
    [[nodiscard]] virtual std::optional<MemberHoldings> holdings_of(std::string_view member_id,
                                                                    const ClusterView& cluster) const = 0;

    // Subscriptions

    /// Also true if the kind cannot exclude a subscription.
    [[nodiscard]] virtual bool is_subscribed_to(std::string_view topic) const = 0;
    /// False if the subscription of a member is unknown.
    [[nodiscard]] virtual bool knows_subscriptions() const = 0;
    /// Lists every topic that `tell_readers` may report.
    virtual void list_topics(ReaderListing& listing) const = 0;
    /// Reports which of the requested topics the members read and hold.
    virtual void tell_readers(ReaderCollector& collector) const = 0;

    // Offsets

    /// False if groups of the kind have no committed offsets. Such a group answers questions about them as if it did not exist.
    [[nodiscard]] virtual bool may_have_offsets() const { return true; }
    /// `none` if the sender may commit.
    [[nodiscard]] virtual ErrorCode refuse_commit(const OffsetCommit& command, CommitKind kind) const = 0;
    /// `none` if the sender may read the group's offsets.
    [[nodiscard]] virtual ErrorCode refuse_fetch(const OffsetFetch::Group& wanted) const = 0;
    /// The member committed, which may extend its session.
    virtual void committed(std::string_view member_id, TimerQueue& timers, Now now) = 0;
    [[nodiscard]] virtual OffsetUse offset_use() const = 0;

    /// False if the group stays until it is deleted, even without members and offsets.
    [[nodiscard]] virtual bool may_expire() const { return true; }
    /// The topic is gone: removes what the kind itself has persisted about it. Offsets are not the kind's.
    virtual void topic_deleted(const TopicDeleted& /*event*/, GroupTable& /*table*/, Effects& /*effects*/) const {}

    // Records

    /// Creates tombstones of everything that the kind has persisted, in the order of Kafka's replay. This destroys the object.
    virtual void end(GroupTable& table, Effects& effects) const = 0;
    /// The durable part as text, in a defined order. Continues after "group G" and ends with a line feed.
    [[nodiscard]] virtual std::string dump() const = 0;

    // History

    [[nodiscard]] virtual insight::GroupPhase phase() const = 0;
    /// Starts the history of a group without notes from its visible state.
    virtual void begin_history(insight::GroupHistory& history, const ClusterView& cluster) const = 0;

  private:
    Group& group_;
    const GroupType type_;
};

/// A possible state of a group: constructed from the group and the time at which the state began.
template <class K>
concept StateOfGroup = std::derived_from<K, GroupKind> && std::constructible_from<K, Group&, TimestampMs> &&
                       std::same_as<const GroupType, decltype(K::kType)>;

/// The rules for the groups of one kind (`R::Kind`). Constructed from `KindParts` (`group_core.h`).
///
/// - Requests of the classic protocol name a group, so they may find one of any kind: `join`, `sync`, `heartbeat`, `leave`. Each
///   answers the command, or makes it wait; `heartbeat` returns the answer. The coordinator does not call `sync` for a group
///   without members.
/// - `loaded`: the replay of the log has ended. `timer_over`: a timer of the group was due; afterwards the group may be gone.
/// - `fail_waiting` answers every waiting request with the error and does nothing else.
/// - Commands of the kind's own: `decide(command, now, effects)`, one overload for each. The coordinator finds them by their
///   types.
template <class R>
concept GroupRules =
    StateOfGroup<typename R::Kind> &&
    requires(R& rules, typename R::Kind& group, const JoinGroup& join, const SyncGroup& sync, const Heartbeat& heartbeat,
             const LeaveGroup& leave, const Timer& timer, ErrorCode error, Now now, Effects& effects) {
        rules.join(join, group, now, effects);
        rules.sync(sync, group, now, effects);
        { rules.heartbeat(heartbeat, group, now) } -> std::same_as<ErrorCode>;
        rules.leave(leave, group, now, effects);
        rules.loaded(group, now, effects);
        rules.timer_over(timer, group, now, effects);
        rules.fail_waiting(group, error, effects);
    };

}  // namespace partita::groups
