#include "broker/groups/group_coordinator.h"

#include <utility>
#include <variant>

#include "broker/groups/classic_members.h"
#include "broker/groups/classic_membership.h"
#include "broker/groups/consumer_membership.h"
#include "broker/groups/consumer_steps.h"
#include "broker/groups/group_environment.h"
#include "broker/groups/group_expiry.h"
#include "broker/groups/group_migration.h"
#include "broker/groups/group_offsets.h"
#include "broker/groups/group_queries.h"
#include "broker/groups/group_table.h"
#include "broker/groups/rebalances.h"
#include "broker/groups/record_appender.h"
#include "broker/groups/record_codec.h"
#include "broker/groups/replies.h"
#include "broker/insight/history/group_history.h"
#include "protocol/assert.h"

namespace partita::groups {
namespace {

class EmptyCluster final : public ClusterView {
  public:
    std::optional<Topic> find(std::string_view) const override { return std::nullopt; }
    std::optional<Topic> find(const TopicId&) const override { return std::nullopt; }
    void for_each(FunctionRef<void(const Topic&)>) const override {}
    std::int64_t version() const override { return 0; }
    std::string_view rack() const override { return {}; }
    ConsumerGroupOverrides overrides(std::string_view) const override { return {}; }
};

/// Of a member of a consumer group whose timer ran out.
RebalanceCause cause_of(TimerKind kind) {
    return kind == TimerKind::consumer_session     ? RebalanceCause::session_expired
           : kind == TimerKind::consumer_rebalance ? RebalanceCause::did_not_revoke
           : kind == TimerKind::consumer_join      ? RebalanceCause::did_not_rejoin
                                                   : RebalanceCause::did_not_sync;
}

}  // namespace

/// The parts, and which of them a command or a timer is for: that depends on the kind of the group. Each part knows those above
/// it that it uses:
///
///   GroupTable          what there is, and how records change it    group_table.cc, group_table_history.cc, dump.cc
///   Rebalances          classic groups between two generations      rebalance.cc
///   ClassicMembership   what members of classic groups ask          join.cc, sync.cc, heartbeat.cc
///   ConsumerSteps       the steps in which consumer groups change   consumer_steps.cc, consumer_assignment.cc, consumer_regex.cc
///   GroupMigration      from one kind to the other                  migration.cc
///   ConsumerMembership  heartbeats of KIP-848                       consumer_heartbeat.cc, consumer_leave.cc
///   ClassicMembers      classic members of consumer groups          consumer_classic.cc
///   GroupOffsets        commits, fetches, what expansions give      offsets.cc
///   GroupExpiry         what nobody uses any more                   expiry.cc
///   GroupQueries        lists, descriptions, who reads a topic      list_describe.cc, consumer_describe.cc, readers.cc
class GroupCoordinator::Core {
  public:
    explicit Core(const GroupConfig& config) : environment{.config = config, .cluster = std::make_shared<EmptyCluster>()} {}

    void decide(const JoinGroup& command, Now now, Effects& effects);
    void decide(const SyncGroup& command, Now now, Effects& effects);
    void decide(const Heartbeat& command, Now now, Effects& effects);
    void decide(const LeaveGroup& command, Now now, Effects& effects);
    void decide(const OffsetCommit& command, Now now, Effects& effects) { offsets.commit(command, now, effects); }
    void decide(const TransactionalOffsetCommit& command, Now now, Effects& effects) { offsets.commit(command, now, effects); }
    void decide(const OffsetFetch& command, Now, Effects& effects) { offsets.fetch(command, effects); }
    void decide(const OffsetDelete& command, Now, Effects& effects) { offsets.remove(command, effects); }
    void decide(const ConsumerGroupHeartbeat& command, Now now, Effects& effects) { consumers.heartbeat(command, now, effects); }
    void decide(const ConsumerGroupDescribe& command, Now, Effects& effects) { queries.describe(command, effects); }
    void decide(const DescribeGroups& command, Now, Effects& effects) { queries.describe(command, effects); }
    void decide(const ListGroups& command, Now, Effects& effects) { queries.list(command, effects); }
    void decide(const DeleteGroups& command, Now, Effects& effects) { expiry.remove(command, effects); }

    void loaded(Now now, Effects& effects);
    void tick(Now now, Effects& effects);

    bool is_loaded = false;
    GroupEnvironment environment;
    GroupTable table;
    Rebalances rebalances{table, environment};
    ClassicMembership classic{table, environment, rebalances};
    ConsumerSteps steps{table, environment};
    GroupMigration migration{table, environment, rebalances, steps};
    ConsumerMembership consumers{table, environment, steps, migration};
    ClassicMembers classic_members{table, environment, steps, migration, consumers};
    GroupOffsets offsets{table, environment, rebalances};
    GroupExpiry expiry{table, environment};
    GroupQueries queries{table, environment};
};

void GroupCoordinator::Core::decide(const JoinGroup& command, Now now, Effects& effects) {
    if (const ErrorCode fault = classic.find_fault(command); fault != ErrorCode::none) {
        reply(effects, command.reply_to, join_error(fault, command.member_id));
        return;
    }
    Group* group = table.find(command.group_id);
    if (group != nullptr && group->consumer() != nullptr && !group->has_no_members()) {
        classic_members.join(command, *group, now, effects);
    } else {
        classic.join(command, now, effects);
    }
}

void GroupCoordinator::Core::decide(const SyncGroup& command, Now now, Effects& effects) {
    if (command.group_id.empty()) {
        reply(effects, command.reply_to, SyncResult{.error = ErrorCode::invalid_group_id});
        return;
    }
    Group* group = table.find(command.group_id);
    if (group == nullptr || group->has_no_members()) {
        reply(effects, command.reply_to, SyncResult{.error = ErrorCode::unknown_member_id});
    } else if (group->consumer() != nullptr) {
        classic_members.sync(command, *group, now, effects);
    } else {
        classic.sync(command, *group->classic(), now, effects);
    }
}

void GroupCoordinator::Core::decide(const Heartbeat& command, Now now, Effects& effects) {
    HeartbeatResult result;
    Group* group = table.find(command.group_id);
    if (command.group_id.empty()) {
        result.error = ErrorCode::invalid_group_id;
    } else if (group == nullptr) {
        result.error = ErrorCode::unknown_member_id;
    } else if (group->consumer() != nullptr) {
        result.error = classic_members.heartbeat(command, *group, now);
    } else {
        result.error = classic.heartbeat(command, *group->classic(), now);
    }
    reply(effects, command.reply_to, std::move(result));
}

void GroupCoordinator::Core::decide(const LeaveGroup& command, Now now, Effects& effects) {
    Group* group = table.find(command.group_id);
    if (command.group_id.empty()) {
        reply(effects, command.reply_to, LeaveResult{.error = ErrorCode::invalid_group_id});
    } else if (group != nullptr && group->consumer() != nullptr) {
        classic_members.leave(command, *group, now, effects);
    } else {
        classic.leave(command, group == nullptr ? nullptr : group->classic(), now, effects);
    }
}

void GroupCoordinator::Core::loaded(Now now, Effects& effects) {
    PARTITA_ASSERT(!is_loaded, "a coordinator is loaded once");
    is_loaded = true;
    for (Group* group : table.in_order()) {
        if (ClassicGroup* one = group->classic()) {
            rebalances.loaded(*one, now, effects);
        } else {
            steps.loaded(*group, now);
        }
    }
    expiry.schedule(now);
}

void GroupCoordinator::Core::tick(Now now, Effects& effects) {
    while (Timer* due = table.timers().pop_due(now.monotonic)) {
        // Whatever runs here may destroy the timer, its member and its group, so nothing touches them afterwards.
        switch (due->kind) {
            case TimerKind::session:
            case TimerKind::pending_member:
            case TimerKind::initial_join:
            case TimerKind::join:
            case TimerKind::sync:
                rebalances.timer_over(*due, now, effects);
                break;
            case TimerKind::offset_expiration:
                expiry.timer_over(now, effects);
                break;
            case TimerKind::consumer_session:
            case TimerKind::consumer_rebalance:
            case TimerKind::consumer_join:
            case TimerKind::consumer_sync: {
                table.note(*due->group, cause_of(due->kind), names_of(*due->consumer_member));
                const ConsumerMember* const late[] = {due->consumer_member};
                consumers.fence_members(*due->group, late, now, effects);
                break;
            }
        }
    }
}

GroupCoordinator::GroupCoordinator(const GroupConfig& config) : core_(std::make_unique<Core>(config)) {}
GroupCoordinator::~GroupCoordinator() = default;
GroupCoordinator::GroupCoordinator(GroupCoordinator&&) noexcept = default;
GroupCoordinator& GroupCoordinator::operator=(GroupCoordinator&&) noexcept = default;

template <class Command>
void GroupCoordinator::decide(const Command& command, Now now, Effects& effects) {
    core_->table.begin_call(now.wall, core_->environment.cluster);
    core_->decide(command, now, effects);
    core_->table.end_call();
}
template void GroupCoordinator::decide(const JoinGroup&, Now, Effects&);
template void GroupCoordinator::decide(const SyncGroup&, Now, Effects&);
template void GroupCoordinator::decide(const Heartbeat&, Now, Effects&);
template void GroupCoordinator::decide(const LeaveGroup&, Now, Effects&);
template void GroupCoordinator::decide(const OffsetCommit&, Now, Effects&);
template void GroupCoordinator::decide(const TransactionalOffsetCommit&, Now, Effects&);
template void GroupCoordinator::decide(const OffsetFetch&, Now, Effects&);
template void GroupCoordinator::decide(const OffsetDelete&, Now, Effects&);
template void GroupCoordinator::decide(const ConsumerGroupHeartbeat&, Now, Effects&);
template void GroupCoordinator::decide(const ConsumerGroupDescribe&, Now, Effects&);
template void GroupCoordinator::decide(const DescribeGroups&, Now, Effects&);
template void GroupCoordinator::decide(const ListGroups&, Now, Effects&);
template void GroupCoordinator::decide(const DeleteGroups&, Now, Effects&);

std::expected<std::optional<Record>, DecodeError> GroupCoordinator::decode(Bytes key, std::optional<Bytes> value, Arena& arena) {
    return decode_record(key, value, arena);
}
std::expected<void, EncodeError> GroupCoordinator::encode(const Record& record, TimestampMs timestamp, ByteBuffer& scratch,
                                                          BatchBuilder& batch) {
    return append_record(record, timestamp, scratch, batch);
}

void GroupCoordinator::replay(const Record& record) {
    PARTITA_ASSERT(!core_->is_loaded, "records are replayed before the coordinator is used");
    std::visit([this](const auto& one) { core_->table.apply(one); }, record);
}
std::optional<Record> GroupCoordinator::in_transaction(const Record& record, ProducerId producer_id) {
    if (const auto* commit = std::get_if<OffsetCommitRecord>(&record)) {
        return PendingOffsetRecord{*commit, producer_id};
    }
    return std::nullopt;
}
std::vector<TransactionCommit> GroupCoordinator::transaction_ended(ProducerId producer_id, bool is_commit) {
    return core_->table.end_transaction(producer_id, is_commit);
}
void GroupCoordinator::loaded(Now now, Effects& effects) {
    core_->table.begin_call(now.wall, core_->environment.cluster);
    core_->loaded(now, effects);
    core_->table.end_call();
}
void GroupCoordinator::cluster_changed(ClusterPointer cluster, bool has_new_topics) {
    PARTITA_ASSERT(cluster != nullptr, "there always is a cluster");
    core_->environment.cluster = std::move(cluster);
    if (has_new_topics) {
        core_->environment.version_with_new_topics = core_->environment.cluster->version();
    }
}
void GroupCoordinator::reconfigure(const GroupConfig& config) { core_->environment.config = config; }
void GroupCoordinator::topic_deleted(const TopicDeleted& event, Now, Effects& effects) {
    core_->offsets.topic_deleted(event, effects);
    core_->table.forget_topic_in_histories(event.topic_id);
}
std::vector<TopicReader> GroupCoordinator::readers_of(std::string_view topic, const TopicId& topic_id) {
    TopicQuestion question{.topic = topic, .topic_id = topic_id};
    return std::move(core_->queries.readers_of({&question, 1}).front());
}
std::vector<std::vector<TopicReader>> GroupCoordinator::readers_of(std::span<TopicQuestion> questions) {
    return core_->queries.readers_of(questions);
}
std::vector<std::vector<TopicReader>> GroupCoordinator::readers_by_asking_all(std::span<TopicQuestion> questions) const {
    return core_->queries.readers_by_asking_all(questions);
}
std::uint64_t GroupCoordinator::groups_visited() const { return core_->queries.groups_visited(); }
std::optional<std::string> GroupCoordinator::protocol_of(std::string_view group_id) const {
    return core_->queries.protocol_of(group_id);
}
std::optional<MemberHoldings> GroupCoordinator::holdings_of(std::string_view group_id, std::string_view member_id) const {
    return core_->queries.holdings_of(group_id, member_id);
}
std::optional<insight::GroupHistory> GroupCoordinator::history_of(std::string_view group_id) const {
    const Group* group = core_->table.find(group_id);
    return group == nullptr ? std::nullopt : std::optional(core_->table.history(*group, *core_->environment.cluster));
}
void GroupCoordinator::visit_histories(
    const std::function<void(std::string_view group_id, const insight::GroupHistory& history)>& visit) const {
    core_->table.histories().for_each(visit);
}
void GroupCoordinator::note_late_reading(std::string_view group_id, std::string_view member_id, std::string_view owner_id,
                                         insight::LateReading seen) {
    core_->table.note_late_reading(group_id, member_id, owner_id, std::move(seen));
}
Checkpoints GroupCoordinator::checkpoints_of(std::string_view group_id) const { return core_->queries.checkpoints_of(group_id); }
std::map<PartitionIndex, Offset> GroupCoordinator::committed_in(std::string_view group_id, std::string_view topic,
                                                                const TopicId& topic_id) const {
    return core_->queries.committed_in(group_id, topic, topic_id);
}
void GroupCoordinator::seed_offsets(const SeedOffsets& command, Now now, Effects& effects) {
    core_->offsets.seed(command, now, effects);
}
std::size_t GroupCoordinator::remove_seeds(const SeedOffsets& command, Effects& effects) {
    return core_->offsets.remove_seeds(command, effects);
}
void GroupCoordinator::tick(Now now, Effects& effects) {
    core_->table.begin_call(now.wall, core_->environment.cluster);
    core_->tick(now, effects);
    core_->table.end_call();
}
std::optional<Instant> GroupCoordinator::next_deadline() const { return core_->table.timers().next_deadline(); }
void GroupCoordinator::fail_waiting(ErrorCode error, Effects& effects) {
    for (Group* group : core_->table.in_order()) {
        if (ClassicGroup* classic = group->classic()) {
            core_->rebalances.fail_waiting(*classic, error, effects);
        }
    }
}
std::string GroupCoordinator::dump() const { return core_->table.dump(); }
std::size_t GroupCoordinator::group_count() const { return core_->table.group_count(); }
std::size_t GroupCoordinator::offset_count() const { return core_->table.offset_count(); }

}  // namespace partita::groups
