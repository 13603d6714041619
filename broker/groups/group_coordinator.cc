#include "broker/groups/group_coordinator.h"

#include <utility>
#include <variant>

#include "broker/groups/core.h"
#include "broker/groups/record_appender.h"
#include "broker/groups/record_codec.h"
#include "protocol/assert.h"

namespace partita::groups {

GroupCoordinator::GroupCoordinator(const GroupConfig& config) : core_(std::make_unique<Core>(config)) {}
GroupCoordinator::~GroupCoordinator() = default;
GroupCoordinator::GroupCoordinator(GroupCoordinator&&) noexcept = default;
GroupCoordinator& GroupCoordinator::operator=(GroupCoordinator&&) noexcept = default;

template <class Command>
void GroupCoordinator::decide(const Command& command, Now now, Effects& effects) {
    core_->decide(command, now, effects);
}
template void GroupCoordinator::decide(const JoinGroup&, Now, Effects&);
template void GroupCoordinator::decide(const SyncGroup&, Now, Effects&);
template void GroupCoordinator::decide(const Heartbeat&, Now, Effects&);
template void GroupCoordinator::decide(const LeaveGroup&, Now, Effects&);
template void GroupCoordinator::decide(const OffsetCommit&, Now, Effects&);
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

void GroupCoordinator::replay(const Record& record) { core_->replay(record); }
void GroupCoordinator::loaded(Now now, Effects& effects) { core_->loaded(now, effects); }
void GroupCoordinator::cluster_changed(ClusterPointer cluster, bool has_new_topics) {
    core_->cluster_changed(std::move(cluster), has_new_topics);
}
void GroupCoordinator::topic_deleted(const TopicDeleted& event, Now now, Effects& effects) {
    core_->topic_deleted(event, now, effects);
}
std::vector<TopicReader> GroupCoordinator::readers_of(std::string_view topic, const TopicId& topic_id) {
    TopicQuestion question{.topic = topic, .topic_id = topic_id};
    return std::move(core_->readers_of({&question, 1}).front());
}
std::vector<std::vector<TopicReader>> GroupCoordinator::readers_of(std::span<TopicQuestion> questions) {
    return core_->readers_of(questions);
}
std::vector<std::vector<TopicReader>> GroupCoordinator::readers_by_asking_all(std::span<TopicQuestion> questions) const {
    return core_->readers_by_asking_all(questions);
}
std::uint64_t GroupCoordinator::groups_visited() const { return core_->groups_visited(); }
std::optional<std::string> GroupCoordinator::protocol_of(std::string_view group_id) const { return core_->protocol_of(group_id); }
std::optional<MemberHoldings> GroupCoordinator::holdings_of(std::string_view group_id, std::string_view member_id) const {
    return core_->holdings_of(group_id, member_id);
}
std::map<PartitionIndex, Offset> GroupCoordinator::committed_in(std::string_view group_id, std::string_view topic,
                                                                const TopicId& topic_id) const {
    return core_->committed_in(group_id, topic, topic_id);
}
void GroupCoordinator::seed_offsets(const SeedOffsets& command, Now now, Effects& effects) {
    core_->seed_offsets(command, now, effects);
}
std::size_t GroupCoordinator::remove_seeds(const SeedOffsets& command, Effects& effects) {
    return core_->remove_seeds(command, effects);
}
void GroupCoordinator::tick(Now now, Effects& effects) { core_->tick(now, effects); }
std::optional<Instant> GroupCoordinator::next_deadline() const { return core_->next_deadline(); }
void GroupCoordinator::fail_waiting(ErrorCode error, Effects& effects) { core_->fail_waiting(error, effects); }
void GroupCoordinator::reconfigure(const GroupConfig& config) { core_->reconfigure(config); }
std::string GroupCoordinator::dump() const { return core_->dump(); }
std::size_t GroupCoordinator::group_count() const { return core_->group_count(); }
std::size_t GroupCoordinator::offset_count() const { return core_->offset_count(); }

namespace {

class EmptyCluster final : public ClusterView {
  public:
    std::optional<Topic> find(std::string_view) const override { return std::nullopt; }
    std::optional<Topic> find(const TopicId&) const override { return std::nullopt; }
    void for_each(const std::function<void(const Topic&)>&) const override {}
    std::int64_t version() const override { return 0; }
    std::string_view rack() const override { return {}; }
    ConsumerGroupOverrides overrides(std::string_view) const override { return {}; }
};

}  // namespace

GroupCoordinator::Core::Core(const GroupConfig& config)
    : config_(config), expiration_timer_(TimerKind::offset_expiration), cluster_(std::make_shared<EmptyCluster>()) {}

void GroupCoordinator::Core::cluster_changed(ClusterPointer cluster, bool has_new_topics) {
    PARTITA_ASSERT(cluster != nullptr, "there always is a cluster");
    cluster_ = std::move(cluster);
    if (has_new_topics) {
        version_with_new_topics_ = cluster_->version();
    }
}

void GroupCoordinator::Core::tick(Now now, Effects& effects) {
    while (Timer* due = table_.timers().pop_due(now.monotonic)) {
        // Whatever runs here may destroy the timer, its member and its group, so nothing touches them afterwards.
        switch (due->kind) {
            case TimerKind::session:
                session_over(*due->group->classic(), *due->member, now, effects);
                break;
            case TimerKind::pending_member:
                pending_member_over(*due->group->classic(), due->pending->id, now, effects);
                break;
            case TimerKind::initial_join:
                initial_delay_over(*due->group->classic(), now, effects);
                break;
            case TimerKind::join:
                complete_join(*due->group->classic(), now, effects);
                break;
            case TimerKind::sync:
                sync_overdue(*due->group->classic(), now, effects);
                break;
            case TimerKind::offset_expiration:
                expire_offsets(now, effects);
                break;
            case TimerKind::consumer_session:
            case TimerKind::consumer_rebalance:
            case TimerKind::consumer_join:
            case TimerKind::consumer_sync: {
                ConsumerMember* const late[] = {due->consumer_member};
                fence_members(*due->group, late, now, effects);
                break;
            }
        }
    }
}

void GroupCoordinator::Core::fail_waiting(ErrorCode error, Effects& effects) {
    for (Group* group : table_.in_order()) {
        ClassicGroup* classic = group->classic();
        if (classic == nullptr) {
            continue;
        }
        for (const auto& [order, member] : classic->members()) {
            answer_join(*classic, *member, {.error = error, .member_id = member->id}, effects);
            answer_sync(*member, {.error = error}, effects);
        }
    }
}

void GroupCoordinator::Core::replay(const Record& record) {
    PARTITA_ASSERT(!loaded_, "records are replayed before the coordinator is used");
    std::visit([this](const auto& one) { table_.apply(one); }, record);
}

void GroupCoordinator::Core::loaded(Now now, Effects& effects) {
    PARTITA_ASSERT(!loaded_, "a coordinator is loaded once");
    loaded_ = true;
    for (Group* group : table_.in_order()) {
        if (group->consumer() != nullptr) {
            restart_consumer_timers(*group, now);
            continue;
        }
        ClassicGroup& classic = *group->classic();
        for (const auto& [order, member] : classic.members()) {
            restart_session(*member, now);
        }
        if (std::cmp_greater(classic.size(), config_.max_size)) {
            // The limit was lowered. Rejoining sorts out who may stay, and lets everybody commit before.
            prepare_rebalance(classic, now, effects);
        }
    }
    table_.timers().schedule(expiration_timer_, now.monotonic + config_.offsets_retention_check_interval_ms);
}

}  // namespace partita::groups
