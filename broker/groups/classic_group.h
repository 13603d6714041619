#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "broker/groups/commands.h"
#include "broker/groups/effects.h"
#include "broker/groups/group.h"
#include "broker/groups/group_kind.h"
#include "broker/groups/history_notes.h"
#include "broker/groups/records.h"
#include "broker/groups/results.h"
#include "broker/groups/timer_queue.h"
#include "protocol/arena.h"
#include "protocol/text_map.h"
#include "protocol/types.h"

/// State of a classic group, and the rules that need only this state. `group_table.h` says which part of it is durable, which is
/// volatile, and how the durable part changes.

namespace partita::groups {

struct Member;
struct PendingMember;

/// A protocol (assignor) that a member supports, with the metadata that the member sends for it.
struct MemberProtocol {
    std::string name;
    OwnedBytes metadata;
};

enum class ClassicTimerKind : std::uint8_t {
    session,         ///< A member was silent for too long.
    pending_member,  ///< No client returned with an id that the coordinator had handed out (KIP-394).
    initial_join,    ///< The first rebalance of a group waited for more members.
    join,            ///< A rebalance waited for its members.
    sync,            ///< A new generation waited for its members' SyncGroup.
};

/// Every timer of a classic group is one of these.
struct ClassicTimer : Timer {
    ClassicTimer(ClassicTimerKind timer_kind, Group& timer_group, Member* timer_member = nullptr,
                 PendingMember* timer_pending = nullptr)
        : Timer(&timer_group), kind(timer_kind), member(timer_member), pending(timer_pending) {}

    const ClassicTimerKind kind;
    Member* const member;
    PendingMember* const pending;
};

struct Member {
    Member(Group& group, std::uint64_t join_order) : order(join_order), session_timer(ClassicTimerKind::session, group, this) {}

    /// Position in the group: members are listed in the order in which they first joined.
    const std::uint64_t order;
    std::string id;
    std::optional<std::string> instance_id;
    std::string client_id;
    std::string client_host;
    std::int32_t rebalance_timeout_ms = 0;
    std::int32_t session_timeout_ms = 0;
    /// In order of preference, names unique. Only the metadata for the group's protocol is durable.
    std::vector<MemberProtocol> protocols;

    // Volatile

    /// The JoinGroup that waits for the rebalance to complete.
    std::optional<ReplyToken> waiting_join;
    /// The SyncGroup that waits for the leader's assignment.
    std::optional<ReplyToken> waiting_sync;
    /// The member has not sent SyncGroup in this generation yet.
    bool owes_sync = false;
    /// The member is in no generation yet. The coordinator may drop it while its JoinGroup waits: the client may be gone, and
    /// without an id it would return as another member.
    bool is_new = false;
    ClassicTimer session_timer;

    [[nodiscard]] bool is_static() const { return instance_id.has_value(); }
    /// Null when the member does not support `protocol`.
    [[nodiscard]] const OwnedBytes* metadata(std::string_view protocol) const;
    [[nodiscard]] bool has_protocols(std::span<const JoinGroup::Protocol> others) const;
    /// As the leader assigned it and the generation's record stores it; empty while no assignment is valid.
    [[nodiscard]] const OwnedBytes& assignment() const { return assignment_; }

  private:
    friend class ClassicGroup;
    OwnedBytes assignment_;
};

/// A member id that the coordinator handed out with MEMBER_ID_REQUIRED and no client has used yet.
struct PendingMember {
    PendingMember(Group& group, std::string_view member_id)
        : id(member_id), timer(ClassicTimerKind::pending_member, group, nullptr, this) {}

    std::string id;
    ClassicTimer timer;
};

/// A group of the JoinGroup protocol, without its offsets; also a group that only has offsets.
///
/// A Stable or Empty group equals its last record. A rebalance changes members, protocol, leader and generation before the next
/// record seals them. Until then these changes are volatile, and only the log has the last record's state.
class ClassicGroup final : public GroupKind {
  public:
    static constexpr GroupType kType = GroupType::classic;

    ClassicGroup(Group& group, TimestampMs since)
        : GroupKind(group, kType),
          state_since(since),
          initial_join_timer(ClassicTimerKind::initial_join, group),
          join_timer(ClassicTimerKind::join, group),
          sync_timer(ClassicTimerKind::sync, group) {}

    std::optional<std::string> protocol_type;
    /// Chosen in the current generation.
    std::optional<std::string> protocol;
    std::int32_t generation = 0;
    /// -1 if a record of an old broker lacks it.
    TimestampMs state_since;
    Member* leader = nullptr;

    // Volatile

    std::int32_t waiting_joins = 0;
    std::int32_t owed_syncs = 0;
    /// A member joined during the initial delay, which may extend the delay.
    bool new_member_added = false;
    std::int32_t initial_delay_ms = 0;
    std::int32_t initial_remaining_ms = 0;
    TextMap<std::unique_ptr<PendingMember>> pending;
    /// Topics of the members in the current generation; unset if unknown. See `is_subscribed_to`.
    std::optional<TextSet> topics;
    ClassicTimer initial_join_timer;
    ClassicTimer join_timer;
    ClassicTimer sync_timer;

    [[nodiscard]] GroupState state() const { return state_; }
    [[nodiscard]] bool is(GroupState state) const { return state_ == state; }
    [[nodiscard]] GroupState previous_state() const { return previous_state_; }
    /// One step of a rebalance, to PreparingRebalance or CompletingRebalance. Asserts that Kafka's state machine allows it.
    void transition_to(GroupState next, TimestampMs now);
    /// Moves the group to the record's generation: Stable with the record's members, or Empty. Existing members keep their
    /// volatile state, and their other protocols unless these contradict the record.
    void apply(const GroupMetadataRecord& record);
    [[nodiscard]] bool apply(const GroupTombstone&) { return true; }
    void foretell(const GroupMetadataRecord& record, HistoryNotes& notes) const;

    // Members

    /// In the order of first joining.
    [[nodiscard]] const std::map<std::uint64_t, std::unique_ptr<Member>>& members() const { return members_; }
    [[nodiscard]] std::size_t size() const override { return members_.size(); }
    [[nodiscard]] bool empty() const override { return is(GroupState::empty); }
    [[nodiscard]] bool has_member(std::string_view member_id) const override { return find(member_id) != nullptr; }
    [[nodiscard]] std::optional<MemberHoldings> holdings_of(std::string_view member_id,
                                                            const ClusterView& cluster) const override;
    [[nodiscard]] Member* find(std::string_view member_id) const;
    [[nodiscard]] Member* find_static(std::string_view instance_id) const;
    /// `none` if the group has the member, and under the instance id if one is given; else UNKNOWN_MEMBER_ID or
    /// FENCED_INSTANCE_ID.
    [[nodiscard]] ErrorCode validate(std::string_view member_id, std::optional<std::string_view> instance_id) const;
    /// Adds a member without waiting requests. The first one becomes the leader.
    Member& add(std::string_view member_id, std::optional<std::string_view> instance_id, std::string_view member_protocol_type,
                std::vector<MemberProtocol> protocols);
    /// Removes the member or pending member with that id, and its timers. The caller must have answered its waiting requests.
    void remove(std::string_view member_id);
    void rename(Member& member, std::string_view new_id);
    void set_protocols(Member& member, std::span<const JoinGroup::Protocol> protocols);
    /// Clears all assignments, because a rebalance begins.
    void withdraw_assignments();
    /// The member's metadata for the protocol in force, or for its preferred one before the choice; null if it sent none.
    [[nodiscard]] const OwnedBytes* metadata_of(const Member& member) const;
    /// The longest rebalance timeout of all members; 0 without members.
    [[nodiscard]] std::int32_t rebalance_timeout_ms() const;
    [[nodiscard]] bool all_joined() const { return std::cmp_equal(members_.size(), waiting_joins) && pending.empty(); }
    /// Unless the leader itself rejoined, makes a rejoined member the leader. Returns false if no member rejoined.
    [[nodiscard]] bool elect_joined_leader();

    // Protocols

    [[nodiscard]] bool supports(std::string_view type, std::span<const JoinGroup::Protocol> protocols) const;
    /// The protocol with most first choices among those that every member supports; the earliest voter decides a tie. Requires
    /// members.
    [[nodiscard]] std::string select_protocol() const;
    [[nodiscard]] bool uses_consumer_protocol() const;
    /// Reads the topics of all members from their metadata. Callers must call it after every change of `protocol` or
    /// `protocol_type`.
    void update_topics();
    /// Also true if a group of consumers does not know its topics: then it cannot exclude any.
    [[nodiscard]] bool is_subscribed_to(std::string_view topic) const override;
    [[nodiscard]] bool knows_subscriptions() const override { return empty() || uses_consumer_protocol(); }

    // Questions to every kind

    [[nodiscard]] std::string_view state_text() const override { return state_name(state_); }
    [[nodiscard]] std::string_view protocol_type_text() const override {
        return protocol_type ? *protocol_type : std::string_view();
    }
    [[nodiscard]] std::string_view assignor() const override { return protocol ? *protocol : std::string_view(); }
    void list_topics(ReaderListing& listing) const override;
    void tell_readers(ReaderCollector& collector) const override;
    [[nodiscard]] ErrorCode refuse_commit(const OffsetCommit& command, CommitKind kind) const override;
    /// Anyone may fetch: a member id and an epoch mean nothing to a classic group.
    [[nodiscard]] ErrorCode refuse_fetch(const OffsetFetch::Group&) const override { return ErrorCode::none; }
    void committed(std::string_view member_id, TimerQueue& timers, Now now) override;
    [[nodiscard]] OffsetUse offset_use() const override;
    void end(GroupTable& table, Effects& effects) const override;
    /// For a rebalancing group the text shows only that it rebalances.
    [[nodiscard]] std::string dump() const override;
    [[nodiscard]] GroupPhase phase() const override;
    void begin_history(GroupHistory& history, const ClusterView& cluster) const override;

  private:
    [[nodiscard]] bool has_members_of(const GroupMetadataRecord& record) const;
    void replace_members(const GroupMetadataRecord& record);
    void apply_to(Member& member, const MemberRecord& stored, std::string_view chosen);
    void count_protocols(const Member& member, std::int32_t change);

    GroupState state_ = GroupState::empty;
    GroupState previous_state_ = GroupState::dead;
    std::uint64_t next_order_ = 0;
    std::map<std::uint64_t, std::unique_ptr<Member>> members_;
    /// Keys are the ids inside the members.
    std::unordered_map<std::string_view, Member*> by_id_;
    std::unordered_map<std::string_view, Member*> by_instance_id_;
    /// How many members support a protocol.
    TextMap<std::int32_t> supported_;
};

[[nodiscard]] std::vector<MemberProtocol> owned(std::span<const JoinGroup::Protocol> protocols);

[[nodiscard]] MemberNames names_of(const Member& member);

/// A record that seals the group in its current state: with its members, or empty.
[[nodiscard]] GroupMetadataRecord record_of(const ClassicGroup& group, Arena& arena);

}  // namespace partita::groups
