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
#include "broker/groups/group_table.h"

/// Inside of the coordinator; only this room includes it. One file per request:
///   join.cc          JoinGroup: new, pending, existing, static members
///   rebalance.cc     the rebalance itself: prepare, wait, complete, initial delay
///   sync.cc          SyncGroup, assignments, who did not sync
///   heartbeat.cc     Heartbeat, LeaveGroup, sessions that end
///   offsets.cc       OffsetCommit, OffsetFetch, OffsetDelete, deleted topics
///   expiry.cc        offsets and groups that nobody uses any more, DeleteGroups
///   list_describe.cc ListGroups, DescribeGroups
///   readers.cc       who reads a topic, offsets that expansions give
///   consumer_*.cc    the same for consumer groups (KIP-848), and classic members in them
///   migration.cc     changing the type of a group

namespace partita::groups {

/// The first JoinGroup of a new member waits for at most this long: the member cannot send heartbeats, because it does
/// not know its id, and a client that gave up and comes back is another new member.
inline constexpr std::int32_t kNewMemberJoinTimeoutMs = 300'000;

/// Ids given out with MEMBER_ID_REQUIRED that may be outstanding in one group; beyond it clients get
/// GROUP_MAX_SIZE_REACHED. Kafka has no such limit, only the session timeout, so clients that never come back with
/// their ids would make memory grow.
inline constexpr std::size_t kMaxPendingMembers = 65'536;

/// Longest text that a record (and a reply) can hold. A member id that would be longer, because the client's name is
/// long, is refused.
inline constexpr std::size_t kMaxTextBytes = 32'767;

/// Protocols that one member may name. Clients name a handful; the time of the vote grows with the square of this
/// number.
inline constexpr std::size_t kMaxProtocolsPerMember = 128;

/// A rebalance that nobody rejoined is tried again after the rebalance timeout, but at the earliest after this: members
/// may have asked for a timeout of 0.
inline constexpr std::int32_t kMinRebalanceRetryMs = 100;

/// First version of JoinGroup in which a dynamic member has to come with an id (KIP-394).
inline constexpr std::int16_t kJoinVersionRequiringMemberId = 4;
/// First version of JoinGroup that can tell a leader not to assign (KIP-814).
inline constexpr std::int16_t kJoinVersionSkippingAssignment = 9;
/// First version of OffsetCommit that knows GROUP_ID_NOT_FOUND.
inline constexpr std::int16_t kCommitVersionKnowingUnknownGroups = 9;
/// First version of DescribeGroups that says GROUP_ID_NOT_FOUND (KIP-1043).
inline constexpr std::int16_t kDescribeVersionKnowingUnknownGroups = 6;

/// Expressions of a group are resolved again at most once in this time, however often topics change.
inline constexpr std::int64_t kMinRegexRefreshIntervalMs = 10'000;

/// First version of ConsumerGroupHeartbeat in which the member chooses its id (KIP-1082).
inline constexpr std::int16_t kHeartbeatVersionWithMemberIds = 1;
/// First version of OffsetCommit for members of consumer groups.
inline constexpr std::int16_t kCommitVersionKnowingMemberEpochs = 9;

/// Why a request is refused.
struct Refusal {
    ErrorCode error = ErrorCode::none;
    std::string message;
};

class GroupCoordinator::Core {
  public:
    explicit Core(const GroupConfig& config);

    void replay(const Record& record);
    void loaded(Now now, Effects& effects);

    void decide(const JoinGroup& command, Now now, Effects& effects);
    void decide(const SyncGroup& command, Now now, Effects& effects);
    void decide(const Heartbeat& command, Now now, Effects& effects);
    void decide(const LeaveGroup& command, Now now, Effects& effects);
    void decide(const OffsetCommit& command, Now now, Effects& effects);
    void decide(const OffsetFetch& command, Now now, Effects& effects);
    void decide(const OffsetDelete& command, Now now, Effects& effects);
    void decide(const ConsumerGroupHeartbeat& command, Now now, Effects& effects);
    void decide(const ConsumerGroupDescribe& command, Now now, Effects& effects);
    void cluster_changed(ClusterPointer cluster, bool has_new_topics);
    void decide(const DescribeGroups& command, Now now, Effects& effects);
    void decide(const ListGroups& command, Now now, Effects& effects);
    void decide(const DeleteGroups& command, Now now, Effects& effects);
    void topic_deleted(const TopicDeleted& event, Now now, Effects& effects);
    [[nodiscard]] std::vector<std::vector<TopicReader>> readers_of(std::span<TopicQuestion> questions);
    [[nodiscard]] std::vector<std::vector<TopicReader>> readers_by_asking_all(std::span<TopicQuestion> questions) const;
    [[nodiscard]] std::uint64_t groups_visited() const { return groups_visited_; }
    [[nodiscard]] std::optional<std::string> protocol_of(std::string_view group_id) const;
    [[nodiscard]] std::optional<MemberHoldings> holdings_of(std::string_view group_id, std::string_view member_id) const;
    [[nodiscard]] std::map<PartitionIndex, Offset> committed_in(std::string_view group_id, std::string_view topic,
                                                                const TopicId& topic_id) const;
    void seed_offsets(const SeedOffsets& command, Now now, Effects& effects);
    std::size_t remove_seeds(const SeedOffsets& command, Effects& effects);
    void tick(Now now, Effects& effects);
    void fail_waiting(ErrorCode error, Effects& effects);

    [[nodiscard]] std::optional<Instant> next_deadline() const { return table_.timers().next_deadline(); }
    void reconfigure(const GroupConfig& config) { config_ = config; }
    [[nodiscard]] std::string dump() const { return table_.dump(); }
    [[nodiscard]] std::size_t group_count() const { return table_.group_count(); }
    [[nodiscard]] std::size_t offset_count() const { return table_.offset_count(); }

  private:
    // join.cc
    void join_new_member(const JoinGroup& command, ClassicGroup& group, Now now, Effects& effects);
    void join_known_member(const JoinGroup& command, ClassicGroup& group, Now now, Effects& effects);
    [[nodiscard]] bool accepts(const ClassicGroup& group, std::string_view member_id) const;
    void add_member(const JoinGroup& command, std::string_view member_id, ClassicGroup& group, Now now, Effects& effects);
    void update_member(const JoinGroup& command, ClassicGroup& group, Member& member, Effects& effects);
    void replace_static_member(const JoinGroup& command, Member& member, std::string_view new_member_id, ClassicGroup& group,
                               Now now, Effects& effects);
    void keep_generation_of_static_member(const JoinGroup& command, Member& member, const std::string& previous_leader,
                                          ClassicGroup& group, Effects& effects);

    // rebalance.cc
    void rebalance_or_complete(ClassicGroup& group, Now now, Effects& effects);
    void prepare_rebalance(ClassicGroup& group, Now now, Effects& effects);
    /// Completes a rebalance that is not an initial one once everybody joined.
    void maybe_complete_join(ClassicGroup& group, Now now, Effects& effects);
    void complete_join(ClassicGroup& group, Now now, Effects& effects);
    void initial_delay_over(ClassicGroup& group, Now now, Effects& effects);
    /// How long the first rebalance of a group waits for more members.
    [[nodiscard]] std::int32_t initial_delay_ms() const;
    [[nodiscard]] static JoinResult current_generation(const ClassicGroup& group, const Member& member);
    void answer_join(ClassicGroup& group, Member& member, JoinResult result, Effects& effects);
    void answer_sync(Member& member, SyncResult result, Effects& effects);
    /// Answers what the member waits for with `error` and removes it.
    void remove_member(ClassicGroup& group, Member& member, ErrorCode error, Effects& effects);

    // sync.cc
    void accept_assignment(const SyncGroup& command, ClassicGroup& group, Now now, Effects& effects);
    void reset_assignments(ClassicGroup& group, ErrorCode error, Now now, Effects& effects);
    void settle_sync(ClassicGroup& group, Member& member);
    void sync_overdue(ClassicGroup& group, Now now, Effects& effects);

    // heartbeat.cc
    void restart_session(Member& member, Now now) {
        table_.timers().schedule(member.session_timer, now.monotonic + member.session_timeout_ms);
    }
    void session_over(ClassicGroup& group, Member& member, Now now, Effects& effects);
    void pending_member_over(ClassicGroup& group, std::string_view member_id, Now now, Effects& effects);
    [[nodiscard]] ErrorCode heartbeat_in_classic_group(const Heartbeat& command, ClassicGroup& group, Now now);
    ErrorCode leave_one(const LeaveGroup::Member& leaving, ClassicGroup& group, Effects& effects);

    // offsets.cc
    [[nodiscard]] ErrorCode refuse_commit(const OffsetCommit& command);
    [[nodiscard]] static ErrorCode validate_commit(const OffsetCommit& command, const ClassicGroup& group);
    // consumer_offsets.cc
    [[nodiscard]] static ErrorCode validate_consumer_commit(const OffsetCommit& command, const ConsumerGroup& group);
    [[nodiscard]] static ErrorCode validate_consumer_fetch(const OffsetFetch::Group& wanted, const ConsumerGroup& group);
    [[nodiscard]] bool metadata_too_large(std::string_view metadata) const;
    [[nodiscard]] static OffsetFetchResult::Group fetch_group(const OffsetFetch::Group& wanted, const Group* group);

    // expiry.cc
    void expire_offsets(Now now, Effects& effects);
    bool expire_offsets_of(const Group& group, Now now, Effects& effects);

    // consumer_heartbeat.cc
    [[nodiscard]] std::optional<Refusal> find_fault(const ConsumerGroupHeartbeat& command) const;
    [[nodiscard]] std::optional<Refusal> refuse_heartbeat(const ConsumerGroupHeartbeat& command, const Group* group) const;
    void accept_heartbeat(const ConsumerGroupHeartbeat& command, std::string_view member_id, Now now, Effects& effects);
    [[nodiscard]] std::string supported_assignors() const;
    /// The place that the same static member had before goes over to `member_id`.
    ConsumerMember& take_place(std::string_view member_id, const ConsumerMember& previous, Group& group, Effects& effects);
    /// Persists what the member says of itself, when that has changed; a member that is not there joins by it, and may make
    /// the group. True when its topic names changed.
    bool update_subscription(std::string_view group_id, std::string_view member_id, MemberSubscription subscription,
                             Effects& effects);
    void restart_consumer_session(Group& group, ConsumerMember& member, Now now);
    [[nodiscard]] std::int32_t session_timeout_ms(const Group& group) const;

    // consumer_assignment.cc
    /// Lifts the group epoch when `bump` is set, or when the metadata of the group's topics has changed.
    void update_group_epoch(Group& group, bool bump, Effects& effects);
    [[nodiscard]] std::int64_t compute_metadata_hash(const Group& group);
    void update_target_assignment(Group& group, Now now, Effects& effects);
    void compute_target_assignment(Group& group, Now now, Effects& effects);
    /// Leads the member one step towards its target. `owned`: what the member says that it has.
    void lead_on(Group& group, ConsumerMember& member, bool subscription_changed,
                 const std::optional<std::span<const assignors::TopicPartitions>>& owned, Now now, Effects& effects);

    // consumer_regex.cc
    struct RegexUpdate {
        bool changed = false;
        /// The new expression's topics are known, so the group can be assigned anew at once.
        bool is_resolved = false;
        /// The topics of all the group's expressions shall be resolved, after the reply.
        bool resolve = false;
    };
    [[nodiscard]] std::optional<Refusal> refuse_regex(std::string_view before, std::string_view after,
                                                      const ConsumerGroup* group) const;
    [[nodiscard]] RegexUpdate update_regex(Group& group, const std::string& before, const std::string& after, Now now,
                                           Effects& effects);
    void resolve_group_regexes(Group& group, Now now, Effects& effects);
    void forget_unused_regex(Group& group, const std::string& regex, Effects& effects);

    // consumer_leave.cc
    void leave_consumer_group(const ConsumerGroupHeartbeat& command, Now now, Effects& effects);
    /// Removes the members; the group may thereby become a classic one.
    void fence_members(Group& group, std::span<ConsumerMember* const> members, Now now, Effects& effects);
    void remove_consumer_member(Group& group, std::string_view member_id, Effects& effects);

    /// After a start everybody has a whole session, and a whole rebalance timeout for what it has to give up.
    void restart_consumer_timers(Group& group, Now now);

    // consumer_classic.cc
    void join_consumer_group(const JoinGroup& command, Group& group, Now now, Effects& effects);
    void accept_classic_join(const JoinGroup& command, std::string_view member_id, Group& group, Now now, Effects& effects);
    void sync_in_consumer_group(const SyncGroup& command, Group& group, Now now, Effects& effects);
    [[nodiscard]] ErrorCode heartbeat_in_consumer_group(const Heartbeat& command, Group& group, Now now);
    void leave_from_consumer_group(const LeaveGroup& command, Group& group, Now now, Effects& effects);

    // migration.cc
    [[nodiscard]] std::optional<Refusal> refuse_upgrade(const ClassicGroup& group) const;
    /// The classic group ends. Its members are those of a consumer group of that name, which does not exist yet if there are
    /// none.
    void upgrade_group(ClassicGroup& classic, Now now, Effects& effects);
    /// Without these members, all others speak the classic protocol and the group may become a classic one.
    [[nodiscard]] bool can_downgrade(const Group& group, std::span<ConsumerMember* const> without) const;
    void downgrade_group(Group& group, std::span<ConsumerMember* const> without, bool rebalance, Now now, Effects& effects);

    template <class R>
    static void reply(Effects& effects, ReplyToken token, R&& result) {
        effects.replies.push_back({token, Result(std::forward<R>(result))});
    }

    GroupConfig config_;
    GroupTable table_;
    Timer expiration_timer_;
    std::uint64_t groups_visited_ = 0;
    bool loaded_ = false;
    /// Never null.
    ClusterPointer cluster_;
    /// The cluster's version when topics were created last: expressions that were resolved before that are out of date.
    std::int64_t version_with_new_topics_ = 0;
    /// Hashes of topics that groups are subscribed to, for this version of the cluster.
    TextMap<std::int64_t> topic_hashes_;
    std::int64_t topic_hashes_version_ = -1;
};

}  // namespace partita::groups
