#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/groups/group.h"
#include "broker/groups/group_coordinator.h"

/// Inside of the coordinator; only this room includes it. One file per request:
///   join.cc          JoinGroup: new, pending, existing, static members
///   rebalance.cc     the rebalance itself: prepare, wait, complete, initial delay
///   sync.cc          SyncGroup, assignments, who did not sync
///   heartbeat.cc     Heartbeat, LeaveGroup, sessions that end
///   offsets.cc       OffsetCommit, OffsetFetch, OffsetDelete, deleted topics
///   expiry.cc        offsets and groups that nobody uses any more, DeleteGroups
///   list_describe.cc ListGroups, DescribeGroups
///   readers.cc       who reads a topic, offsets that expansions give
///   replay.cc        records in, records out, dump

namespace partita::groups {

/// A member that joins for the first time cannot send heartbeats (it does not know its id), and a client that gave
/// up and came back is a new member again. So the first JoinGroup waits for at most this long.
inline constexpr std::int32_t kNewMemberJoinTimeoutMs = 300'000;

/// Ids given out with MEMBER_ID_REQUIRED that may be outstanding in one group. Kafka has no limit but the session
/// timeout; a client that never comes back with its id would let memory grow. More get GROUP_MAX_SIZE_REACHED.
inline constexpr std::size_t kMaxPendingMembers = 65'536;

/// Longest text that a record (and a reply) can hold. A member id that a client's name would make longer is refused.
inline constexpr std::size_t kMaxTextBytes = 32'767;

/// Protocols that one member may name. Clients name a handful; the vote takes time with the square of it.
inline constexpr std::size_t kMaxProtocolsPerMember = 128;

/// A rebalance nobody rejoined is tried again after the rebalance timeout, but not more often than this:
/// members may have asked for a timeout of 0.
inline constexpr std::int32_t kMinRebalanceRetryMs = 100;

/// First version of JoinGroup in which a dynamic member has to come with an id (KIP-394).
inline constexpr std::int16_t kJoinVersionRequiringMemberId = 4;
/// First version of JoinGroup that can tell a leader not to assign (KIP-814).
inline constexpr std::int16_t kJoinVersionSkippingAssignment = 9;
/// First version of OffsetCommit that knows GROUP_ID_NOT_FOUND.
inline constexpr std::int16_t kCommitVersionKnowingUnknownGroups = 9;
/// First version of DescribeGroups that says GROUP_ID_NOT_FOUND (KIP-1043).
inline constexpr std::int16_t kDescribeVersionKnowingUnknownGroups = 6;

class GroupCoordinator::Core {
public:
    explicit Core(GroupConfig config) : config_(config), expiration_timer_(TimerKind::offset_expiration) {}

    void replay(const Record& record);
    void loaded(Now now, Effects& effects);

    void join(const JoinGroup& command, Now now, Effects& effects);
    void sync(const SyncGroup& command, Now now, Effects& effects);
    void heartbeat(const Heartbeat& command, Now now, Effects& effects);
    void leave(const LeaveGroup& command, Now now, Effects& effects);
    void commit_offsets(const OffsetCommit& command, Now now, Effects& effects);
    void fetch_offsets(const OffsetFetch& command, Effects& effects);
    void delete_offsets(const OffsetDelete& command, Effects& effects);
    void describe_groups(const DescribeGroups& command, Effects& effects);
    void list_groups(const ListGroups& command, Effects& effects);
    void delete_groups(const DeleteGroups& command, Effects& effects);
    void topic_deleted(const TopicDeleted& event, Effects& effects);
    [[nodiscard]] std::vector<TopicReader> readers_of(std::string_view topic, const TopicId& topic_id) const;
    void seed_offsets(const SeedOffsets& command, Now now, Effects& effects);
    std::size_t remove_seeds(const SeedOffsets& command, Effects& effects);
    void tick(Now now, Effects& effects);
    void fail_waiting(ErrorCode error, Effects& effects);

    [[nodiscard]] std::optional<Instant> next_deadline() const { return timers_.next_deadline(); }
    void reconfigure(const GroupConfig& config) { config_ = config; }
    [[nodiscard]] std::string dump() const;
    [[nodiscard]] std::size_t group_count() const { return groups_.size(); }
    [[nodiscard]] std::size_t offset_count() const;

private:
    // join.cc
    void join_new_member(const JoinGroup& command, Group& group, Now now, Effects& effects);
    void join_known_member(const JoinGroup& command, Group& group, Now now, Effects& effects);
    [[nodiscard]] bool accepts(const Group& group, std::string_view member_id) const;
    void add_member(const JoinGroup& command, std::string_view member_id, Group& group, Now now, Effects& effects);
    void update_member(const JoinGroup& command, Group& group, Member& member, Effects& effects);
    void replace_static_member(const JoinGroup& command, Member& member, std::string_view new_member_id, Group& group,
                               Now now, Effects& effects);
    void keep_generation_of_static_member(const JoinGroup& command, Member& member,
                                          const std::string& previous_leader, Group& group, Effects& effects);

    // rebalance.cc
    void rebalance_or_complete(Group& group, Now now, Effects& effects);
    void prepare_rebalance(Group& group, Now now, Effects& effects);
    /// Completes a rebalance that is not an initial one once everybody joined.
    void maybe_complete_join(Group& group, Now now, Effects& effects);
    void complete_join(Group& group, Now now, Effects& effects);
    void initial_delay_over(Group& group, Now now, Effects& effects);
    [[nodiscard]] static JoinResult current_generation(const Group& group, const Member& member);
    void answer_join(Group& group, Member& member, JoinResult result, Effects& effects);
    void answer_sync(Member& member, SyncResult result, Effects& effects);
    /// Answers what the member waits for with `error` and removes it.
    void remove_member(Group& group, Member& member, ErrorCode error, Effects& effects);

    // sync.cc
    void accept_assignment(const SyncGroup& command, Group& group, Now now, Effects& effects);
    void reset_assignments(Group& group, ErrorCode error, Now now, Effects& effects);
    void settle_sync(Group& group, Member& member);
    void sync_overdue(Group& group, Now now, Effects& effects);

    // heartbeat.cc
    void restart_session(Member& member, Now now) {
        timers_.schedule(member.session_timer, now.monotonic + member.session_timeout_ms);
    }
    void session_over(Group& group, Member& member, Now now, Effects& effects);
    void pending_member_over(Group& group, std::string_view member_id, Now now, Effects& effects);
    ErrorCode leave_one(const LeaveGroup::Member& leaving, Group& group, Effects& effects);

    // offsets.cc
    [[nodiscard]] static ErrorCode validate_commit(const OffsetCommit& command, const Group& group);
    [[nodiscard]] bool metadata_too_large(std::string_view metadata) const;
    [[nodiscard]] static OffsetFetchResult::Group fetch_group(const OffsetFetch::Group& wanted, const Group* group);

    // expiry.cc
    void expire_offsets(Now now, Effects& effects);
    bool expire_offsets_of(Group& group, Now now, Effects& effects);
    void delete_group(Group& group, Effects& effects);

    // replay.cc
    void replay_one(const OffsetCommitRecord& record);
    void replay_one(const OffsetTombstone& record);
    void replay_one(const GroupMetadataRecord& record);
    void replay_one(const GroupTombstone& record);
    /// The durable form of a group: with its members when Stable, without any when Empty.
    void persist_group(const Group& group, Effects& effects);

    [[nodiscard]] Group* find_group(std::string_view group_id);
    Group& create_group(std::string_view group_id, TimestampMs now);
    /// In the order of ids, for everything whose order can be seen.
    [[nodiscard]] std::vector<Group*> groups_in_order() const;

    template <class R>
    static void reply(Effects& effects, ReplyToken token, R&& result) {
        effects.replies.push_back({token, Result(std::forward<R>(result))});
    }

    GroupConfig config_;
    // Before everything that holds timers: they leave the queue when they are destroyed.
    TimerQueue timers_;
    Timer expiration_timer_;
    TextMap<std::unique_ptr<Group>> groups_;
    bool loaded_ = false;
};

}  // namespace partita::groups
