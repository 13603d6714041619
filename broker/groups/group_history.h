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

#include "broker/groups/text_map.h"
#include "protocol/types.h"

/// What happened in a group: who owned which partition, who took it over and why, and each rebalance with what caused it. Pure
/// and volatile: no record says it, so it begins anew with a coordinator, and nothing else depends on it. It hears only of what
/// changes a group; a heartbeat or a commit does not get here.

namespace partita::groups {

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
    lost,       ///< It was dropped: its session ended, or it did not come back in a rebalance.
};
inline constexpr std::size_t kTakeoverCauses = 4;
[[nodiscard]] std::string_view to_string(TakeoverCause cause);

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
    bool is_classic = true;
    /// Or epoch.
    std::int32_t generation = 0;
    std::size_t members = 0;
    /// The assignor, as far as it is known. Borrowed.
    std::string_view protocol;
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
        /// kNoTimestamp: before this history began.
        TimestampMs since = kNoTimestamp;
        /// Since when nobody has it, though `owner` is still a member; see `free_since`.
        TimestampMs released = kNoTimestamp;
        TimestampMs previous_until = kNoTimestamp;
        TakeoverCause cause = TakeoverCause::normal;  ///< Of the last takeover, if there is a `previous`.
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
        bool is_classic = true;
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
                 TimestampMs known_since);
    /// Nobody has the partition, though its owner is there.
    void release(std::string_view topic, std::int32_t partition, std::string_view member_id, TimestampMs now);
    /// The members of a classic group have what was acquired since `begin_sealing`, and nothing else.
    void begin_sealing();
    void end_sealing(TimestampMs now);
    /// What came of the call.
    void settle(const GroupPhase& phase, TimestampMs now);

    // What is known --------------------------------------------------------------------------------------

    [[nodiscard]] const std::vector<KnownMember>& members() const { return members_; }
    [[nodiscard]] const std::map<std::string, Topic, std::less<>>& topics() const { return topics_; }
    [[nodiscard]] const Ownership* find(std::string_view topic, std::int32_t partition) const;
    /// Since when nobody has the partition; empty while somebody has it.
    [[nodiscard]] std::optional<TimestampMs> free_since(const Ownership& ownership) const;
    /// The oldest first.
    [[nodiscard]] const std::deque<Takeover>& takeovers() const { return takeovers_; }
    [[nodiscard]] const std::array<std::uint64_t, kTakeoverCauses>& takeover_counts() const { return takeover_counts_; }
    /// The oldest first; the last one may go on.
    [[nodiscard]] const std::deque<Rebalance>& rebalances() const { return rebalances_; }
    [[nodiscard]] std::uint64_t rebalance_count() const { return rebalance_count_; }
    [[nodiscard]] bool has_partitions_left_out() const { return partitions_left_out_; }

  private:
    [[nodiscard]] std::int32_t find_member(std::string_view member_id) const;
    std::int32_t member(const MemberNames& names, TimestampMs joined);
    [[nodiscard]] Ownership* place(std::string_view topic, const TopicId& topic_id, std::int32_t partition);
    [[nodiscard]] bool make_room(std::size_t partitions);
    [[nodiscard]] bool is_open() const { return !rebalances_.empty() && !rebalances_.back().ended; }
    void take_over(std::string_view topic, std::int32_t partition, Ownership& ownership, std::int32_t to, TimestampMs now);
    void open(const GroupPhase& phase, TimestampMs now);
    void add_event(Rebalance& rebalance, const Event& event);
    void forget_gone_members();

    std::vector<KnownMember> members_;
    TextMap<std::int32_t> member_indexes_;
    std::map<std::string, Topic, std::less<>> topics_;
    std::size_t partition_count_ = 0;
    bool partitions_left_out_ = false;
    std::deque<Takeover> takeovers_;
    std::array<std::uint64_t, kTakeoverCauses> takeover_counts_{};
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
    /// What came of the call, if the history is still there.
    void settle(std::string_view group_id, const GroupPhase& phase, TimestampMs now);
    [[nodiscard]] std::size_t size() const { return by_id_.size(); }

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

}  // namespace partita::groups
