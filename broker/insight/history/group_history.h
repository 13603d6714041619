#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/error_code.h"
#include "protocol/group_type.h"
#include "protocol/text_map.h"
#include "protocol/types.h"

/// The history of a group: who owned which partition, who took it over and why, and each rebalance with its cause. Pure and
/// volatile: no record stores it. It begins anew with a coordinator, and nothing else depends on it. The coordinator tells it
/// three things: changes of the group, each commit with its member, and requests that were refused because another claim is
/// newer. It does not hear of heartbeats that the coordinator accepts.

namespace partita::insight {

/// An event of the member, or of the group, that is a reason to share the partitions out anew.
enum class RebalanceCause : std::uint8_t {
    joined,                ///< A new member came.
    rejoined,              ///< A member of a settled group joined again: with other topics, or to have them assigned anew.
    restarted,             ///< A static member came back under another member id.
    left,                  ///< The member said that it leaves, or an administrator removed it.
    session_expired,       ///< The member was silent for longer than its session.
    did_not_rejoin,        ///< The others waited for the member until the rebalance timeout.
    did_not_sync,          ///< The member got a generation and did not ask for its assignment.
    did_not_revoke,        ///< The member did not give up partitions within the rebalance timeout when told to (KIP-848).
    left_out,              ///< The group was full.
    subscription_changed,  ///< The member subscribes to other topics (KIP-848).
    topics_changed,        ///< Topics of the group came, went or grew (KIP-848).
    converted,             ///< The group switched to the other protocol.
    fenced,  ///< The coordinator refused a member with an old epoch, or one that was replaced. No rebalance by itself.
};
inline constexpr std::size_t kRebalanceCauses = 13;
/// "session_expired".
[[nodiscard]] std::string_view to_string(RebalanceCause cause);
/// True if the member is no longer in the group.
[[nodiscard]] bool is_departure(RebalanceCause cause);

/// Why a partition has another owner than before.
enum class TakeoverCause : std::uint8_t {
    normal,     ///< The previous owner is still a member: the partitions were shared out anew.
    left,       ///< The previous owner left.
    restarted,  ///< The new owner is the same static member under another id.
    lost,       ///< The previous owner was dropped: its session or claim expired, or it did not come back in a rebalance.
    stolen,     ///< Another owner claimed it while the claim was valid, and not to share partitions out more evenly.
};
inline constexpr std::size_t kTakeoverCauses = 5;
[[nodiscard]] std::string_view to_string(TakeoverCause cause);

/// The kinds of takeovers, for readers who must tell ordinary ones from those that should not happen.
enum class TakeoverKind : std::uint8_t {
    normal,  ///< The previous owner gave the partition up, left, or restarted.
    lost,    ///< The previous owner was dropped, and has been silent since.
    /// A newer claim was made while the older one was alive. After the takeover the previous owner still used its old claim, and
    /// was refused. It had been dropped, or another process took its static instance id, and it went on. Or the newer claim
    /// itself said that it takes the partition from an owner that is alive.
    stolen,
};
inline constexpr std::size_t kTakeoverKinds = 3;
[[nodiscard]] std::string_view to_string(TakeoverKind kind);

/// The kind of a request that used a claim that is over, and was refused. Such a claim is a generation, a member epoch or a
/// member id that another one replaced.
enum class LateRequest : std::uint8_t { heartbeat, sync, commit };
inline constexpr std::size_t kLateRequests = 3;
/// True for the errors that tell a client that its claim is over. Its generation or epoch is old, another member has its instance
/// id, or it is no longer a member.
[[nodiscard]] bool says_that_claim_is_over(ErrorCode error);

/// The names that tell a member from others. Borrowed.
struct MemberNames {
    std::string_view member_id;
    std::optional<std::string_view> instance_id;
    std::string_view client_id;
    std::string_view client_host;
};

/// The phase of a group after a call.
struct GroupPhase {
    enum class Step : std::uint8_t {
        settled,                 ///< Stable or Empty, or gone.
        waiting_for_members,     ///< PreparingRebalance.
        waiting_for_assignment,  ///< CompletingRebalance: members wait for the assignment of the leader, or of the coordinator.
        reconciling,             ///< Members take their steps (KIP-848).
    };
    Step step = Step::settled;
    GroupType type = GroupType::classic;
    /// The generation, or the epoch.
    std::int32_t generation = 0;
    std::size_t members = 0;
    /// The assignor, as far as it is known. Borrowed.
    std::string_view protocol;
};

/// Reads of one member that was dropped or replaced, of a partition that another member has.
/// broker/insight/ownership/fenced_readers.h finds them. They follow each other without a pause of `GroupHistory::kLateSpellMs`.
struct LateReading {
    /// Indices into the history's members.
    std::int32_t member = -1;
    std::int32_t owner = -1;
    std::string topic;
    std::int32_t partition = 0;
    /// When the owner got the partition.
    TimestampMs since = kNoTimestamp;
    std::uint64_t fetches = 0;
    /// The offsets of the first and of the last of these fetches.
    Offset from;
    Offset to;
    TimestampMs first = kNoTimestamp;
    TimestampMs last = kNoTimestamp;
    /// "python3 (pid 4711)"; empty if the process is not known.
    std::string process;
};

/// The history of one group. It is a value: callers that keep it for longer copy it.
class GroupHistory {
  public:
    static constexpr std::size_t kRebalancesMax = 32;
    /// Most events that it keeps for one rebalance.
    static constexpr std::size_t kEventsMax = 20;
    static constexpr std::size_t kTakeoversMax = 200;
    /// Most partitions whose owners it knows. It does not follow further ones.
    static constexpr std::size_t kPartitionsMax = 20'000;
    /// From time to time the history forgets members that are gone and that nothing else in it mentions.
    static constexpr std::size_t kGoneMembersMax = 256;
    static constexpr std::int32_t kNobody = -1;
    /// The claim of an ownership for which no claim was reported.
    static constexpr std::int32_t kNoClaim = -1;
    /// A partition is flapping if it came back this often, within this time, to the member that had it before its last owner.
    static constexpr std::size_t kFlappingReturns = 3;
    static constexpr std::int64_t kFlappingWindowMs = 300'000;
    /// Most members whose late requests are kept; the one that was silent for longest makes room.
    static constexpr std::size_t kLateMembersMax = 32;
    static constexpr std::int64_t kLateSpellMs = 60'000;
    /// Most partitions with late readings that are kept; the one that was read longest ago makes room.
    static constexpr std::size_t kLateReadingsMax = 64;
    /// A group that was settled for this long is at rest.
    static constexpr std::int64_t kCalmMs = 10'000;

    struct KnownMember {
        std::string member_id;
        std::optional<std::string> instance_id;
        std::string client_id;
        std::string client_host;
        /// kNoTimestamp: before this history began.
        TimestampMs joined = kNoTimestamp;
        struct Gone {
            TimestampMs time;
            RebalanceCause cause = RebalanceCause::left;
        };
        std::optional<Gone> gone;
    };
    struct Ownership {
        /// The current or last owner; an index of `members`.
        std::int32_t owner = kNobody;
        std::int32_t previous = kNobody;
        /// The claim by which the owner has it. For a classic group: the newest generation that gave it to the owner. For
        /// KIP-848: the epoch of the member when it got the partition, against which the coordinator checks its commits
        /// (KIP-1251).
        std::int32_t claim = kNoClaim;
        /// kNoTimestamp: before this history began.
        TimestampMs since = kNoTimestamp;
        /// Since when the partition has been free, although `owner` is still a member; see `free_since`.
        TimestampMs released = kNoTimestamp;
        TimestampMs previous_until = kNoTimestamp;
        TakeoverCause cause = TakeoverCause::normal;  ///< The cause of the last takeover, if there is a `previous`.
        /// When `previous` has used its old claim since; kNoTimestamp if it has not.
        TimestampMs previous_seen = kNoTimestamp;
        /// The last times when the partition came back to the member that had it before the last owner, the oldest first.
        std::array<TimestampMs, kFlappingReturns> returns = {kNoTimestamp, kNoTimestamp, kNoTimestamp};
        /// The member that committed last, and when. kNobody for a commit from outside the group.
        std::int32_t committed_by = kNobody;
        TimestampMs committed_at = kNoTimestamp;
    };
    struct Topic {
        TopicId topic_id;
        std::vector<Ownership> partitions;
    };
    struct Takeover {
        TimestampMs time;
        std::string topic;
        std::int32_t partition = 0;
        std::int32_t from = kNobody;
        std::int32_t to = kNobody;
        TakeoverCause cause = TakeoverCause::normal;
        std::int32_t claim = kNoClaim;
        std::int32_t claim_before = kNoClaim;
        /// When the previous owner used its old claim after this takeover; kNoTimestamp if it did not.
        TimestampMs seen_after = kNoTimestamp;
        /// In the `kFlappingWindowMs` before this takeover, the partition came back to a previous owner `kFlappingReturns` times.
        bool is_flapping = false;
        /// How long the partition was free, as far as the coordinator knows; null if it does not know. The time begins when the
        /// previous owner was dropped or gave the partition up. If all members give everything up in a rebalance, it begins with
        /// that rebalance.
        std::optional<std::int64_t> unowned_ms;
    };
    struct Event {
        RebalanceCause cause = RebalanceCause::joined;
        TimestampMs time;
        std::int32_t member = kNobody;
        /// How often it happened; a fenced client may ask again and again.
        std::uint32_t times = 1;
    };
    struct Rebalance {
        /// The generation that the rebalance produced; while it goes on, the generation from which it began.
        std::int32_t generation = 0;
        GroupType type = GroupType::classic;
        std::string protocol;
        TimestampMs began;
        /// When all members had joined, in a classic group.
        std::optional<TimestampMs> joined;
        /// Null while it goes on.
        std::optional<TimestampMs> ended;
        std::size_t members = 0;
        /// The last member for which the group waited.
        std::int32_t slowest = kNobody;
        /// How many partitions got another owner, and how many got their first one.
        std::size_t moved = 0;
        std::size_t first_owned = 0;
        /// How often the rebalance began anew before it ended, because another member came or went.
        std::uint32_t interruptions = 0;
        std::vector<Event> events;
        std::size_t events_left_out = 0;
    };

    /// One member's requests by a claim that is over, without a pause of `kLateSpellMs` between two of them.
    struct LateMember {
        std::int32_t member = kNobody;
        std::array<std::uint32_t, kLateRequests> requests{};
        TimestampMs first;
        TimestampMs last;
        /// The last claim that it used.
        std::int32_t claim = kNoClaim;
        /// The last refused commit for a partition that another member had by then. An empty `topic` means that there was no such
        /// commit.
        struct Overlap {
            std::string topic;
            std::int32_t partition = 0;
            Offset offset;
            std::int32_t owner = kNobody;
            /// When the owner got the partition.
            TimestampMs since = kNoTimestamp;
            TimestampMs time;
            /// Set if the commit came by a claim: the reason why the partition was taken.
            std::optional<TakeoverCause> claim_ended = std::nullopt;
        };
        Overlap overlap;
        /// How many of its refused commits were for such partitions.
        std::uint32_t overlaps = 0;

        [[nodiscard]] std::uint32_t count(LateRequest request) const { return requests[static_cast<std::size_t>(request)]; }
    };

    /// Rebalances that followed each other with less than `kCalmMs` of rest between them. A static member that restarts while the
    /// group is settled causes no unrest.
    struct Unrest {
        TimestampMs since = kNoTimestamp;
        std::uint64_t rebalances = 0;
        std::array<std::uint64_t, kRebalanceCauses> causes{};
    };

    // Reports of the coordinator ---------------------------------------------------------------------------

    /// Notes an event of the member, or of the group if `member` is null. A departure ends its ownership. `replaces`: the id of
    /// the static member that it replaces.
    void note(RebalanceCause cause, const std::optional<MemberNames>& member, TimestampMs now, std::string_view replaces = {});
    /// Notes that the member came back to a rebalance, or took a step in it.
    void note_arrival(const MemberNames& member, TimestampMs now);
    /// Makes a member known whose arrival was not reported because it was there before.
    void know(const MemberNames& member);
    /// Notes that the member has the partition. `known_since`: kNoTimestamp if it had it before this history began.
    void acquire(std::string_view topic, const TopicId& topic_id, std::int32_t partition, std::string_view member_id,
                 TimestampMs known_since, std::int32_t claim = kNoClaim);
    /// Notes that the partition is free although its owner is still a member.
    void release(std::string_view topic, std::int32_t partition, std::string_view member_id, TimestampMs now);
    /// Between these two calls the coordinator reports every partition of every member of a classic group. Afterwards the members
    /// own no other partition.
    void begin_sealing();
    void end_sealing(TimestampMs now);
    /// Concludes a call of the coordinator: `phase` is where the group stands after it.
    void settle(const GroupPhase& phase, TimestampMs now);

    // Commits and refusals. The history keeps nothing about members that it does not know.

    /// The index of the member that is about to commit, for `note_commit`.
    [[nodiscard]] std::int32_t committer(std::string_view member_id) const { return find_member(member_id); }
    void note_commit(std::string_view topic, std::int32_t partition, std::int32_t committer, TimestampMs now);
    /// Notes that the member used a claim that is over, and was refused.
    void note_late(std::string_view member_id, LateRequest request, std::int32_t claim, TimestampMs now);
    /// Notes one of the offsets in a refused commit, after its `note_late`.
    void note_late_offset(std::string_view member_id, std::string_view topic, std::int32_t partition, Offset offset,
                          TimestampMs now);
    /// Notes that the member read a partition that `owner_id` has had since `seen.since`. The caller fills in everything of
    /// `seen` but the indices. The history keeps nothing if the member was not dropped or replaced, or if the partition has
    /// another owner by now.
    void note_late_reading(std::string_view member_id, std::string_view owner_id, LateReading seen);
    /// The topic was deleted: no member owns its partitions or commits there any more. Past events stay among takeovers and
    /// rebalances.
    void forget_topic(const TopicId& topic_id);

    // Claims, by which owners hold partitions without rebalances (broker/addons/claims/core/claim_coordinator.h).

    /// Notes that the owner has the partition from now on. `cause` counts if another owner had it before.
    void take_by_claim(const MemberNames& owner, std::string_view topic, const TopicId& topic_id, std::int32_t partition,
                       std::int32_t claim, TakeoverCause cause, TimestampMs now);
    /// Notes that the owner has no partition any more.
    void retire(std::string_view owner, TimestampMs now);
    /// Notes that the owner renewed an old claim to the partition, or committed the offset by it, and was refused. The history
    /// keeps this only for the previous owner, and only if the partition was taken for another reason than to share partitions
    /// out.
    void note_late_claim(std::string_view owner, std::string_view topic, std::int32_t partition,
                         const std::optional<Offset>& committed, TimestampMs now);

    // Queries -----------------------------------------------------------------------------------------------

    [[nodiscard]] const std::vector<KnownMember>& members() const { return members_; }
    [[nodiscard]] const std::map<std::string, Topic, std::less<>>& topics() const { return topics_; }
    [[nodiscard]] const Ownership* find(std::string_view topic, std::int32_t partition) const;
    /// Since when the partition has been free; null while a member has it.
    [[nodiscard]] std::optional<TimestampMs> free_since(const Ownership& ownership) const;
    /// The oldest first.
    [[nodiscard]] const std::deque<Takeover>& takeovers() const { return takeovers_; }
    [[nodiscard]] const std::array<std::uint64_t, kTakeoverCauses>& takeover_counts() const { return takeover_counts_; }
    [[nodiscard]] const std::array<std::uint64_t, kTakeoverKinds>& takeover_kinds() const { return takeover_kinds_; }
    /// The number of all takeovers of flapping partitions.
    [[nodiscard]] std::uint64_t flapping_count() const { return flapping_count_; }
    /// The number of the last takeover; takeovers are counted from 1.
    [[nodiscard]] std::uint64_t takeover_total() const;
    [[nodiscard]] static bool is_flapping(const Ownership& ownership, TimestampMs now);
    [[nodiscard]] const std::vector<LateMember>& late_members() const { return late_members_; }
    [[nodiscard]] const std::vector<LateReading>& late_readings() const { return late_readings_; }
    /// The late reading of a partition that the owner has; null if no member reads it too late, or another member owns it by now.
    [[nodiscard]] const LateReading* late_reading_of(std::string_view topic, std::int32_t partition) const;
    /// The member was removed; it did not leave by itself.
    [[nodiscard]] static bool was_put_out(const KnownMember& member) {
        return member.gone && member.gone->cause != RebalanceCause::left;
    }
    /// The oldest first; the last one may still go on.
    [[nodiscard]] const std::deque<Rebalance>& rebalances() const { return rebalances_; }
    [[nodiscard]] std::uint64_t rebalance_count() const { return rebalance_count_; }
    /// Null while the group is at rest: it has been settled for longer than `kCalmMs`.
    [[nodiscard]] std::optional<Unrest> unrest(TimestampMs now) const;
    /// When a flapping partition was last taken over; kNoTimestamp if that never happened.
    [[nodiscard]] TimestampMs last_flapping() const { return last_flapping_; }
    [[nodiscard]] bool has_partitions_left_out() const { return partitions_left_out_; }

  private:
    [[nodiscard]] std::int32_t find_member(std::string_view member_id) const;
    std::int32_t member(const MemberNames& names, TimestampMs joined);
    [[nodiscard]] Ownership* place(std::string_view topic, const TopicId& topic_id, std::int32_t partition);
    [[nodiscard]] bool make_room(std::size_t partitions);
    [[nodiscard]] bool is_open() const { return !rebalances_.empty() && !rebalances_.back().ended; }
    /// `takeover` says when, to which owner and by which claim; the rest follows from the ownership so far.
    void take_over(std::string_view topic, std::int32_t partition, Ownership& ownership, Takeover takeover);
    void open(const GroupPhase& phase, TimestampMs now);
    void add_event(Rebalance& rebalance, const Event& event);
    void count_cause(const Event& event);
    /// True if the pending events leave the group settled, provided that nothing else happens.
    [[nodiscard]] bool stays_settled(const GroupPhase& phase) const;
    void see_after_takeover(std::int32_t member, TimestampMs now);
    [[nodiscard]] LateMember& late_member(std::int32_t member, TimestampMs now);
    void forget_gone_members();
    /// Calls `visit` with each variable that holds the index of a member; `visit` may change it.
    template <class Visit>
    void each_index(Visit visit);

    std::vector<KnownMember> members_;
    TextMap<std::int32_t> member_indexes_;
    std::map<std::string, Topic, std::less<>> topics_;
    std::size_t partition_count_ = 0;
    bool partitions_left_out_ = false;
    std::deque<Takeover> takeovers_;
    std::array<std::uint64_t, kTakeoverCauses> takeover_counts_{};
    std::array<std::uint64_t, kTakeoverKinds> takeover_kinds_{};
    std::uint64_t flapping_count_ = 0;
    std::vector<LateMember> late_members_;
    std::vector<LateReading> late_readings_;
    TimestampMs last_flapping_ = kNoTimestamp;
    Unrest unrest_;
    /// When the last rebalance ended, not counting those in which nothing was shared out anew.
    std::optional<TimestampMs> unsettled_until_;
    std::deque<Rebalance> rebalances_;
    std::uint64_t rebalance_count_ = 0;
    /// Events since the last `settle` with no rebalance open.
    std::vector<Event> pending_;
    std::size_t pending_moved_ = 0;
    std::size_t pending_first_ = 0;
    std::int32_t last_arrival_ = kNobody;
    /// The partitions acquired since `begin_sealing`, by topic.
    std::optional<std::map<std::string, std::vector<bool>, std::less<>>> sealing_;
};

/// True if in this rebalance members give up all their partitions before they rejoin: no member reads until it ends. Otherwise
/// (KIP-429, KIP-848) only partitions that move stand still.
[[nodiscard]] bool stands_still(const GroupHistory::Rebalance& rebalance);
[[nodiscard]] TakeoverKind kind_of(TakeoverCause cause, TimestampMs seen_after);

/// The histories of a coordinator's groups: of those in which something happened last.
class GroupHistories {
  public:
    static constexpr std::size_t kGroupsMax = 64;

    struct Found {
        GroupHistory& history;
        /// Nothing was known of the group before.
        bool is_new = false;
    };
    /// The history of the group, which counts as touched now. If there are too many, the least recently touched one goes.
    [[nodiscard]] Found touch(std::string_view group_id);
    [[nodiscard]] const GroupHistory* find(std::string_view group_id) const;
    /// The history, without touching it. Null if nothing is known of the group.
    [[nodiscard]] GroupHistory* find_to_change(std::string_view group_id);
    [[nodiscard]] bool has_room() const { return by_id_.size() < kGroupsMax; }
    void forget(std::string_view group_id);
    /// Forgets the topic in all groups.
    void forget_topic(const TopicId& topic_id);
    /// Concludes a call, if the history still exists.
    void settle(std::string_view group_id, const GroupPhase& phase, TimestampMs now);
    [[nodiscard]] std::size_t size() const { return by_id_.size(); }
    /// Visits the histories, the last touched first.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const Entry& entry : entries_) {
            visit(std::string_view(entry.id), entry.history);
        }
    }

    /// True if groups were touched since the last call; a group may be in the news twice.
    [[nodiscard]] bool has_news() const { return !news_.empty(); }
    [[nodiscard]] std::vector<std::string> take_news() { return std::exchange(news_, {}); }

  private:
    struct Entry {
        std::string id;
        GroupHistory history;
    };
    /// The last touched first.
    std::list<Entry> entries_;
    TextMap<std::list<Entry>::iterator> by_id_;
    std::vector<std::string> news_;
};

}  // namespace partita::insight
