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

/// What happened in a group: who owned which partition, who took it over and why, and each rebalance with what caused it. Pure
/// and volatile: no record says it, so it begins anew with a coordinator, and nothing else depends on it. It hears of what
/// changes a group, of each commit who made it, and of requests that were refused because another claim is newer; a heartbeat
/// that is welcome does not get here.

namespace partita::insight {

/// What happened to a member, or to the group, that is a reason to share the partitions out anew.
enum class RebalanceCause : std::uint8_t {
    joined,                ///< A new member.
    rejoined,              ///< A member of a settled group joined again: with other topics, or to have them assigned anew.
    restarted,             ///< A static member came back under another member id.
    left,                  ///< It said so, or an administrator removed it.
    session_expired,       ///< It was silent for longer than its session.
    did_not_rejoin,        ///< The others waited for it until the rebalance timeout.
    did_not_sync,          ///< It was given a generation and did not ask for its assignment.
    did_not_revoke,        ///< It was told to give partitions up and did not within the rebalance timeout (KIP-848).
    left_out,              ///< The group was full.
    subscription_changed,  ///< It subscribes to other topics (KIP-848).
    topics_changed,        ///< Topics of the group came, went or grew (KIP-848).
    converted,             ///< The group went over to the other protocol.
    fenced,  ///< A member with an old epoch, or one whose place another one has, was refused. No rebalance by itself.
};
inline constexpr std::size_t kRebalanceCauses = 13;
/// "session_expired".
[[nodiscard]] std::string_view to_string(RebalanceCause cause);
/// True when the member is not in the group any more.
[[nodiscard]] bool is_departure(RebalanceCause cause);

/// Why a partition has another owner than before.
enum class TakeoverCause : std::uint8_t {
    normal,     ///< The owner before is still a member: the partitions were shared out anew.
    left,       ///< It left.
    restarted,  ///< The new owner is the same static member under another id.
    lost,       ///< It was dropped: its session ended, or it did not come back in a rebalance; or its claim expired.
    stolen,     ///< Another owner claimed it while the claim was valid, and not to share partitions out more evenly.
};
inline constexpr std::size_t kTakeoverCauses = 5;
[[nodiscard]] std::string_view to_string(TakeoverCause cause);

/// What a takeover means to whoever has to tell the ordinary ones from those that should not be.
enum class TakeoverKind : std::uint8_t {
    normal,  ///< The owner before gave the partition up, left, or restarted.
    lost,    ///< It was dropped, and was not heard of since.
    /// A newer claim while the older one was alive: after the takeover the owner before still spoke by its old claim, and was
    /// refused. It had been dropped, or its static instance id was taken by another process, and it went on. Or the newer claim
    /// said itself that it takes the partition from an owner that is alive.
    stolen,
};
inline constexpr std::size_t kTakeoverKinds = 3;
[[nodiscard]] std::string_view to_string(TakeoverKind kind);

/// What came by a claim that is over (a generation, a member epoch or a member id that another one replaced) and was refused.
enum class LateRequest : std::uint8_t { heartbeat, sync, commit };
inline constexpr std::size_t kLateRequests = 3;
/// Of what a member is answered: another generation, epoch, or owner of its instance id is newer, or it is a member no more.
[[nodiscard]] bool says_that_claim_is_over(ErrorCode error);

/// What tells a member from others. Borrowed.
struct MemberNames {
    std::string_view member_id;
    std::optional<std::string_view> instance_id;
    std::string_view client_id;
    std::string_view client_host;
};

/// Where a group stands after a call.
struct GroupPhase {
    enum class Step : std::uint8_t {
        settled,                 ///< Stable or Empty, or gone.
        waiting_for_members,     ///< PreparingRebalance.
        waiting_for_assignment,  ///< CompletingRebalance: for what the leader, or the coordinator, assigns.
        reconciling,             ///< Members of KIP-848 take their steps.
    };
    Step step = Step::settled;
    GroupType type = GroupType::classic;
    /// Or epoch.
    std::int32_t generation = 0;
    std::size_t members = 0;
    /// The assignor, as far as it is known. Borrowed.
    std::string_view protocol;
};

/// What one member that was dropped, or whose place another one has, went on to read of a partition that another member has
/// (broker/insight/ownership/fenced_readers.h finds out), without a pause of `GroupHistory::kLateSpellMs`.
struct LateReading {
    /// Indexes of the history's members.
    std::int32_t member = -1;
    std::int32_t owner = -1;
    std::string topic;
    std::int32_t partition = 0;
    /// Since when the owner has it.
    TimestampMs since = kNoTimestamp;
    std::uint64_t fetches = 0;
    /// Of the first and of the last of these fetches.
    Offset from;
    Offset to;
    TimestampMs first = kNoTimestamp;
    TimestampMs last = kNoTimestamp;
    /// "python3 (pid 4711)"; empty when it is not known.
    std::string process;
};

/// A value: whoever wants to look at it for longer copies it.
class GroupHistory {
  public:
    static constexpr std::size_t kRebalancesMax = 32;
    /// Of one rebalance.
    static constexpr std::size_t kEventsMax = 20;
    static constexpr std::size_t kTakeoversMax = 200;
    /// Partitions whose owners are known. Those of further ones are not followed.
    static constexpr std::size_t kPartitionsMax = 20'000;
    /// Members that are gone and that nothing here speaks of any more are forgotten from time to time.
    static constexpr std::size_t kGoneMembersMax = 256;
    static constexpr std::int32_t kNobody = -1;
    /// The claim of an ownership that was not told.
    static constexpr std::int32_t kNoClaim = -1;
    /// A partition is flapping when it came back so often to the member that had it before its last owner, in this time.
    static constexpr std::size_t kFlappingReturns = 3;
    static constexpr std::int64_t kFlappingWindowMs = 300'000;
    /// Members whose late requests are kept; the one that was silent for longest makes room.
    static constexpr std::size_t kLateMembersMax = 32;
    static constexpr std::int64_t kLateSpellMs = 60'000;
    /// Partitions that members read too late and that are kept; the one that was read longest ago makes room.
    static constexpr std::size_t kLateReadingsMax = 64;
    /// A group that was settled for so long is at rest.
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
        /// Who has it, or had it last; an index of `members`.
        std::int32_t owner = kNobody;
        std::int32_t previous = kNobody;
        /// By which claim: the newest generation of a classic group that gave it to the owner, or (KIP-848) the epoch of the
        /// member when it was given to it, which its commits are checked against (KIP-1251).
        std::int32_t claim = kNoClaim;
        /// kNoTimestamp: before this history began.
        TimestampMs since = kNoTimestamp;
        /// Since when nobody has it, though `owner` is still a member; see `free_since`.
        TimestampMs released = kNoTimestamp;
        TimestampMs previous_until = kNoTimestamp;
        TakeoverCause cause = TakeoverCause::normal;  ///< Of the last takeover, if there is a `previous`.
        /// When `previous` spoke by its old claim since; kNoTimestamp: it did not.
        TimestampMs previous_seen = kNoTimestamp;
        /// When the partition came back to the member that had it before the last owner: the last times, the oldest first.
        std::array<TimestampMs, kFlappingReturns> returns = {kNoTimestamp, kNoTimestamp, kNoTimestamp};
        /// Which member committed last, and when. Who commits from outside the group is nobody.
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
        /// When the owner before spoke by its old claim after this; kNoTimestamp: it did not.
        TimestampMs seen_after = kNoTimestamp;
        /// Since `kFlappingWindowMs` before it, the partition came back to an owner before `kFlappingReturns` times.
        bool is_flapping = false;
        /// How long nobody had it, for all that the coordinator knows: from when the owner before was dropped, gave it up, or,
        /// where everybody gives everything up in a rebalance, from when that began. Unset where it is not known.
        std::optional<std::int64_t> unowned_ms;
    };
    struct Event {
        RebalanceCause cause = RebalanceCause::joined;
        TimestampMs time;
        std::int32_t member = kNobody;
        /// How often; a client that is fenced may ask again and again.
        std::uint32_t times = 1;
    };
    struct Rebalance {
        /// That came of it, or that it began from while it goes on.
        std::int32_t generation = 0;
        GroupType type = GroupType::classic;
        std::string protocol;
        TimestampMs began;
        /// When all members had come, of a classic group.
        std::optional<TimestampMs> joined;
        /// Unset while it goes on.
        std::optional<TimestampMs> ended;
        std::size_t members = 0;
        /// Who was waited for last.
        std::int32_t slowest = kNobody;
        /// How many partitions have another owner since, and how many have their first one.
        std::size_t moved = 0;
        std::size_t first_owned = 0;
        /// How often it began anew before it ended, because somebody else came or went.
        std::uint32_t interruptions = 0;
        std::vector<Event> events;
        std::size_t events_left_out = 0;
    };

    /// Requests of one member that came by a claim that is over, without a pause of `kLateSpellMs` between two of them.
    struct LateMember {
        std::int32_t member = kNobody;
        std::array<std::uint32_t, kLateRequests> requests{};
        TimestampMs first;
        TimestampMs last;
        /// The last claim that it came by.
        std::int32_t claim = kNoClaim;
        /// The last refused commit of a partition that another member had by then. `topic` is empty: there was none.
        struct Overlap {
            std::string topic;
            std::int32_t partition = 0;
            Offset offset;
            std::int32_t owner = kNobody;
            /// Since when the owner had it.
            TimestampMs since = kNoTimestamp;
            TimestampMs time;
            /// Set: it came by a claim, of a partition that was taken for this reason.
            std::optional<TakeoverCause> claim_ended = std::nullopt;
        };
        Overlap overlap;
        /// How many of its refused commits were of such partitions.
        std::uint32_t overlaps = 0;

        [[nodiscard]] std::uint32_t count(LateRequest request) const { return requests[static_cast<std::size_t>(request)]; }
    };

    /// Rebalances that followed each other with less than `kCalmMs` of rest between them. A static member that restarts while the
    /// group is settled unsettles nobody.
    struct Unrest {
        TimestampMs since = kNoTimestamp;
        std::uint64_t rebalances = 0;
        std::array<std::uint64_t, kRebalanceCauses> causes{};
    };

    // What the coordinator tells -------------------------------------------------------------------------

    /// Something that happened to the member (no member: to the group). A departure ends its ownership.
    /// `replaces`: the id of the static member whose place it takes.
    void note(RebalanceCause cause, const std::optional<MemberNames>& member, TimestampMs now, std::string_view replaces = {});
    /// The member came back to a rebalance, or took a step in it.
    void note_arrival(const MemberNames& member, TimestampMs now);
    /// A member that is there without its coming having been told: it was there before.
    void know(const MemberNames& member);
    /// The member has the partition. `known_since`: kNoTimestamp for what was so before this history began.
    void acquire(std::string_view topic, const TopicId& topic_id, std::int32_t partition, std::string_view member_id,
                 TimestampMs known_since, std::int32_t claim = kNoClaim);
    /// Nobody has the partition, though its owner is there.
    void release(std::string_view topic, std::int32_t partition, std::string_view member_id, TimestampMs now);
    /// The members of a classic group have what was acquired since `begin_sealing`, and nothing else.
    void begin_sealing();
    void end_sealing(TimestampMs now);
    /// What came of the call.
    void settle(const GroupPhase& phase, TimestampMs now);

    // Commits and refusals. Members that this history does not know are strangers, of whom nothing is kept.

    /// Who is about to commit, for `note_commit`.
    [[nodiscard]] std::int32_t committer(std::string_view member_id) const { return find_member(member_id); }
    void note_commit(std::string_view topic, std::int32_t partition, std::int32_t committer, TimestampMs now);
    /// The member spoke by a claim that is over, and was refused.
    void note_late(std::string_view member_id, LateRequest request, std::int32_t claim, TimestampMs now);
    /// After `note_late` of a commit: one of the offsets in it.
    void note_late_offset(std::string_view member_id, std::string_view topic, std::int32_t partition, Offset offset,
                          TimestampMs now);
    /// The member read a partition that `owner_id` has since `seen.since`; all but the indexes of `seen` is given. Nothing is
    /// kept of it if the member is not one that was dropped or replaced, or the partition has another owner by now.
    void note_late_reading(std::string_view member_id, std::string_view owner_id, LateReading seen);
    /// The topic was deleted: nobody has anything of it, or commits there. What happened stays among takeovers and rebalances.
    void forget_topic(const TopicId& topic_id);

    // Claims by which partitions are held without rebalances (broker/addons/claims/core/claim_coordinator.h).

    /// The owner has the partition from now on. `cause` counts if another owner had it before.
    void take_by_claim(const MemberNames& owner, std::string_view topic, const TopicId& topic_id, std::int32_t partition,
                       std::int32_t claim, TakeoverCause cause, TimestampMs now);
    /// The owner has nothing any more.
    void retire(std::string_view owner, TimestampMs now);
    /// The owner spoke for the partition by a claim that is over, and was refused: it renewed it, or committed the offset.
    /// Nothing is kept of it unless it is the one that the partition's owner took it from, for another reason than to share them
    /// out.
    void note_late_claim(std::string_view owner, std::string_view topic, std::int32_t partition,
                         const std::optional<Offset>& committed, TimestampMs now);

    // What is known --------------------------------------------------------------------------------------

    [[nodiscard]] const std::vector<KnownMember>& members() const { return members_; }
    [[nodiscard]] const std::map<std::string, Topic, std::less<>>& topics() const { return topics_; }
    [[nodiscard]] const Ownership* find(std::string_view topic, std::int32_t partition) const;
    /// Since when nobody has the partition; empty while somebody has it.
    [[nodiscard]] std::optional<TimestampMs> free_since(const Ownership& ownership) const;
    /// The oldest first.
    [[nodiscard]] const std::deque<Takeover>& takeovers() const { return takeovers_; }
    [[nodiscard]] const std::array<std::uint64_t, kTakeoverCauses>& takeover_counts() const { return takeover_counts_; }
    [[nodiscard]] const std::array<std::uint64_t, kTakeoverKinds>& takeover_kinds() const { return takeover_kinds_; }
    /// Of all takeovers, those of partitions that were flapping.
    [[nodiscard]] std::uint64_t flapping_count() const { return flapping_count_; }
    /// Of the last takeover; they are counted from 1.
    [[nodiscard]] std::uint64_t takeover_total() const;
    [[nodiscard]] static bool is_flapping(const Ownership& ownership, TimestampMs now);
    [[nodiscard]] const std::vector<LateMember>& late_members() const { return late_members_; }
    [[nodiscard]] const std::vector<LateReading>& late_readings() const { return late_readings_; }
    /// Who reads too late what the owner has; null: nobody does, or somebody else has it by now.
    [[nodiscard]] const LateReading* late_reading_of(std::string_view topic, std::int32_t partition) const;
    /// The member is none any more, and did not say so itself.
    [[nodiscard]] static bool was_put_out(const KnownMember& member) {
        return member.gone && member.gone->cause != RebalanceCause::left;
    }
    /// The oldest first; the last one may go on.
    [[nodiscard]] const std::deque<Rebalance>& rebalances() const { return rebalances_; }
    [[nodiscard]] std::uint64_t rebalance_count() const { return rebalance_count_; }
    /// Empty while the group is at rest: it has been settled for longer than `kCalmMs`.
    [[nodiscard]] std::optional<Unrest> unrest(TimestampMs now) const;
    /// When the last takeover of a flapping partition was; kNoTimestamp: there was none.
    [[nodiscard]] TimestampMs last_flapping() const { return last_flapping_; }
    [[nodiscard]] bool has_partitions_left_out() const { return partitions_left_out_; }

  private:
    [[nodiscard]] std::int32_t find_member(std::string_view member_id) const;
    std::int32_t member(const MemberNames& names, TimestampMs joined);
    [[nodiscard]] Ownership* place(std::string_view topic, const TopicId& topic_id, std::int32_t partition);
    [[nodiscard]] bool make_room(std::size_t partitions);
    [[nodiscard]] bool is_open() const { return !rebalances_.empty() && !rebalances_.back().ended; }
    /// `takeover`: when, to whom and by which claim; the rest follows from the ownership so far.
    void take_over(std::string_view topic, std::int32_t partition, Ownership& ownership, Takeover takeover);
    void open(const GroupPhase& phase, TimestampMs now);
    void add_event(Rebalance& rebalance, const Event& event);
    void count_cause(const Event& event);
    /// Of what is pending, when it is all that happens.
    [[nodiscard]] bool stays_settled(const GroupPhase& phase) const;
    void see_after_takeover(std::int32_t member, TimestampMs now);
    [[nodiscard]] LateMember& late_member(std::int32_t member, TimestampMs now);
    void forget_gone_members();
    /// Calls `visit` with each place where the index of a member stands; it may be changed there.
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
    /// When the last rebalance ended, but for those in which nothing was shared out anew.
    std::optional<TimestampMs> unsettled_until_;
    std::deque<Rebalance> rebalances_;
    std::uint64_t rebalance_count_ = 0;
    /// Since the last `settle`, with no rebalance open.
    std::vector<Event> pending_;
    std::size_t pending_moved_ = 0;
    std::size_t pending_first_ = 0;
    std::int32_t last_arrival_ = kNobody;
    /// What was acquired since `begin_sealing`, by topic.
    std::optional<std::map<std::string, std::vector<bool>, std::less<>>> sealing_;
};

/// True when in this rebalance members give up everything that they have before they rejoin: nobody reads until it ends.
/// Otherwise (KIP-429, KIP-848) only partitions that move stand still.
[[nodiscard]] bool stands_still(const GroupHistory::Rebalance& rebalance);
[[nodiscard]] TakeoverKind kind_of(TakeoverCause cause, TimestampMs seen_after);

/// The histories of a coordinator's groups: of those to which something happened last.
class GroupHistories {
  public:
    static constexpr std::size_t kGroupsMax = 64;

    struct Found {
        GroupHistory& history;
        /// Nothing was known of the group.
        bool is_new = false;
    };
    /// The history of the group, which is touched now. The least recently touched one goes when there are too many.
    [[nodiscard]] Found touch(std::string_view group_id);
    [[nodiscard]] const GroupHistory* find(std::string_view group_id) const;
    /// The history, which is not touched by that. Null when nothing is known of the group.
    [[nodiscard]] GroupHistory* find_to_change(std::string_view group_id);
    [[nodiscard]] bool has_room() const { return by_id_.size() < kGroupsMax; }
    void forget(std::string_view group_id);
    /// Of all groups.
    void forget_topic(const TopicId& topic_id);
    /// What came of the call, if the history is still there.
    void settle(std::string_view group_id, const GroupPhase& phase, TimestampMs now);
    [[nodiscard]] std::size_t size() const { return by_id_.size(); }
    /// The last touched first.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const Entry& entry : entries_) {
            visit(std::string_view(entry.id), entry.history);
        }
    }

    /// The groups that were touched since the last call; one may be there twice.
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
