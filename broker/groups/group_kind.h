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

/// What every kind of groups offers. The rest of the coordinator serves a group by these operations and never asks of which kind
/// it is.
///
/// A new kind is made of a `GroupKind`, which is the state of one group, of a class that satisfies `GroupRules`, which decides
/// what happens to groups of the kind, and of the commands and records that the kind brings. It is named once, in the list of
/// `GroupCoordinator::Core`.

namespace partita::groups {

struct Group;
class GroupTable;
class ReaderCollector;
class ReaderListing;
class Timer;
class TimerQueue;

/// Whether a commit is part of a transaction: old producers do not say on whose behalf they commit, and those are believed.
enum class CommitKind : std::uint8_t { plain, transactional };

/// Which offsets of a group may expire: those of topics that nobody subscribes to.
struct OffsetUse {
    /// All offsets are in use, whatever their topics are.
    bool is_everything_used = false;
    /// Since when nobody has been in the group. Unset: each offset is unused since its commit.
    std::optional<TimestampMs> unused_since;
};

/// What a group is besides its name and its offsets: its members, and what can be asked of them. One object belongs to one group,
/// which may become another kind; then the object goes.
///
/// What is durable of it changes by `apply(record)` alone. Each record type names the kind that it is for (`Record::Of`); the
/// kind has an `apply` for it, which returns true when it ends the group, or nothing when it never does. A kind that wants the
/// history to know has a `foretell(record, notes)` too, which is called before a new record is applied, and not in a replay.
class GroupKind {
  public:
    GroupKind(Group& group, GroupType type) : group_(group), type_(type) {}
    virtual ~GroupKind() = default;
    GroupKind(const GroupKind&) = delete;
    GroupKind& operator=(const GroupKind&) = delete;

    [[nodiscard]] Group& group() { return group_; }
    [[nodiscard]] const Group& group() const { return group_; }
    [[nodiscard]] const std::string& id() const;

    // What lists tell

    [[nodiscard]] GroupType type() const { return type_; }
    /// Kafka's name, for example "Stable".
    [[nodiscard]] virtual std::string_view state_text() const = 0;
    /// "consumer", "connect"; empty for a group that only stores offsets.
    [[nodiscard]] virtual std::string_view protocol_type_text() const = 0;
    /// The assignor of the group's generation ("range"); empty while it has none, and for kinds that never name one.
    [[nodiscard]] virtual std::string_view assignor() const = 0;

    // Members

    [[nodiscard]] virtual std::size_t size() const = 0;
    /// Nobody is in it, and nobody comes.
    [[nodiscard]] virtual bool empty() const = 0;
    [[nodiscard]] virtual bool has_member(std::string_view member_id) const = 0;
    /// Null when there is no such member.
    [[nodiscard]] virtual std::optional<MemberHoldings> holdings_of(std::string_view member_id,
                                                                    const ClusterView& cluster) const = 0;

    // Subscriptions

    /// True also when a member may be subscribed, for all that is known.
    [[nodiscard]] virtual bool is_subscribed_to(std::string_view topic) const = 0;
    /// False when there are members whose subscriptions cannot be known.
    [[nodiscard]] virtual bool knows_subscriptions() const = 0;
    /// Lists every topic that `tell_readers` could tell of.
    virtual void list_topics(ReaderListing& listing) const = 0;
    /// Tells what the members read and hold of the topics asked for.
    virtual void tell_readers(ReaderCollector& collector) const = 0;

    // Offsets

    /// `none` when the sender may commit.
    [[nodiscard]] virtual ErrorCode refuse_commit(const OffsetCommit& command, CommitKind kind) const = 0;
    /// `none` when the sender may read the group's offsets.
    [[nodiscard]] virtual ErrorCode refuse_fetch(const OffsetFetch::Group& wanted) const = 0;
    /// The member committed: it may be a sign of life.
    virtual void committed(std::string_view member_id, TimerQueue& timers, Now now) = 0;
    [[nodiscard]] virtual OffsetUse offset_use() const = 0;

    // Records

    /// Makes the tombstones of everything that the kind has persisted, in the order that Kafka's replay wants. The object is gone
    /// then.
    virtual void end(GroupTable& table, Effects& effects) const = 0;
    /// The durable part as text, in a defined order. Begins behind "group G" and ends with a line feed.
    [[nodiscard]] virtual std::string dump() const = 0;

    // History

    [[nodiscard]] virtual insight::GroupPhase phase() const = 0;
    /// Tells what can be seen of a group of which nothing was noted.
    virtual void begin_history(insight::GroupHistory& history, const ClusterView& cluster) const = 0;

  private:
    Group& group_;
    const GroupType type_;
};

/// A state that a group can be in: made of the group and the moment since which it is so.
template <class K>
concept StateOfGroup = std::derived_from<K, GroupKind> && std::constructible_from<K, Group&, TimestampMs> &&
                       std::same_as<const GroupType, decltype(K::kType)>;

/// What a coordinator does with the groups of one kind (`R::Kind`). It is made of `KindParts` (`group_core.h`).
///
/// - Requests of the classic protocol name a group, so they may find one of any kind: `join`, `sync`, `heartbeat`, `leave`. Each
///   answers the command, or lets it wait; `heartbeat` returns the answer. `sync` is not called for a group without members.
/// - `loaded`: the log was replayed. `timer_over`: a timer of the group was due; the group may be gone afterwards.
/// - `fail_waiting` answers everybody who waits with the error and does nothing else.
/// - Commands of the kind's own: `decide(command, now, effects)`, one overload for each. The coordinator finds them by their
/// types.
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
