#include "broker/groups/group_coordinator.h"

#include <utility>
#include <variant>

#include "broker/groups/consumer_rules.h"
#include "broker/groups/group_core.h"
#include "broker/groups/record_appender.h"
#include "broker/groups/record_codec.h"
#include "broker/groups/share_rules.h"
#include "broker/insight/history/group_history.h"
#include "protocol/assert.h"

namespace partita::groups {

/// Lists the kinds of groups besides classic ones.
class GroupCoordinator::Core : public GroupCore<ConsumerRules, ShareRules> {
  public:
    using GroupCore::GroupCore;
};

GroupCoordinator::GroupCoordinator(const GroupConfig& config) : core_(std::make_unique<Core>(config)) {}
GroupCoordinator::~GroupCoordinator() = default;
GroupCoordinator::GroupCoordinator(GroupCoordinator&&) noexcept = default;
GroupCoordinator& GroupCoordinator::operator=(GroupCoordinator&&) noexcept = default;

void GroupCoordinator::execute(AnyCommand command, Now now, Effects& effects) {
    std::visit([&](const auto* one) { core_->decide(*one, now, effects); }, command);
}

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
void GroupCoordinator::loaded(Now now, Effects& effects) { core_->loaded(now, effects); }
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
    for (const Group* group : std::as_const(core_->table).in_order()) {
        group->kind().topic_deleted(event, core_->table, effects);
    }
    core_->table.notes().forget_topic(event.topic_id);
}
GroupQueries& GroupCoordinator::queries() { return core_->queries; }
const GroupQueries& GroupCoordinator::queries() const { return core_->queries; }
void GroupCoordinator::note_late_reading(std::string_view group_id, std::string_view member_id, std::string_view owner_id,
                                         insight::LateReading seen) {
    core_->table.notes().note_late_reading(group_id, member_id, owner_id, std::move(seen));
}
void GroupCoordinator::seed_offsets(const SeedOffsets& command, Now now, Effects& effects) {
    core_->offsets.seed(command, now, effects);
}
std::size_t GroupCoordinator::remove_seeds(const SeedOffsets& command, Effects& effects) {
    return core_->offsets.remove_seeds(command, effects);
}
void GroupCoordinator::tick(Now now, Effects& effects) { core_->tick(now, effects); }
std::optional<Instant> GroupCoordinator::next_deadline() const { return core_->table.timers().next_deadline(); }
void GroupCoordinator::fail_waiting(ErrorCode error, Effects& effects) { core_->fail_waiting(error, effects); }
std::string GroupCoordinator::dump() const { return core_->table.dump(); }
std::size_t GroupCoordinator::group_count() const { return core_->table.group_count(); }
std::size_t GroupCoordinator::offset_count() const { return core_->table.offset_count(); }

}  // namespace partita::groups
