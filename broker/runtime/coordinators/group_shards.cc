#include "broker/runtime/coordinators/group_shards.h"
#include "broker/groups/group_queries.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <variant>

#include "broker/insight/history/group_history.h"
#include "broker/runtime/coordinators/append_error_code.h"
#include "broker/runtime/coordinators/coordinator_shards_impl.h"
#include "broker/runtime/coordinators/ownership_record.h"
#include "protocol/record_batch.h"
#include "protocol/try.h"

namespace partita::runtime {

template class CoordinatorShards<groups::GroupCoordinator>;

std::unique_ptr<groups::GroupCoordinator> GroupShards::make_core(const logs::Partition& /*partition*/) {
    const MutexLock lock(settings_mutex_);
    auto coordinator = std::make_unique<groups::GroupCoordinator>(config_);
    if (cluster_) {
        // The core cannot know which topics are new to expressions that were resolved before, so assume all are.
        coordinator->cluster_changed(cluster_, true);
    }
    return coordinator;
}

void GroupShards::bring_up_to_date(groups::GroupCoordinator& core) {
    const MutexLock lock(settings_mutex_);
    core.reconfigure(config_);
    if (cluster_) {
        core.cluster_changed(cluster_, true);
    }
}

void GroupShards::on_persisted(std::span<const groups::Record> records) {
    // The offsets of a topic are adjacent and share one name.
    const char* topic_told = nullptr;
    bool changes_membership = false;
    for (const groups::Record& record : records) {
        if (std::holds_alternative<groups::PendingOffsetRecord>(record)) {
            continue;
        }
        const auto* commit = std::get_if<groups::OffsetCommitRecord>(&record);
        changes_membership = changes_membership || commit == nullptr;
        if (commit != nullptr && commit->topic.data() != topic_told) {
            topic_told = commit->topic.data();
            if (commits_ != nullptr) {
                commits_->on_commit(commit->topic);
            }
        }
    }
    if (changes_membership) {
        membership_version_.fetch_add(1, std::memory_order_release);
    }
}

void GroupShards::on_timer(std::span<const groups::Record> records) {
    std::map<std::string_view, std::size_t> expired;
    for (const groups::Record& record : records) {
        if (const auto* tombstone = std::get_if<groups::OffsetTombstone>(&record)) {
            ++expired[tombstone->group_id];
        }
    }
    for (const auto& [group_id, offsets] : expired) {
        log::info("groups", "removes offsets that expired", {{"group", group_id}, {"offsets", offsets}});
    }
}

void GroupShards::end_transaction(groups::GroupCoordinator& core, ProducerId producer_id, bool is_commit) {
    for (const groups::TransactionCommit& commit : core.transaction_ended(producer_id, is_commit)) {
        if (transaction_commits_ != nullptr) {
            transaction_commits_->on_transaction_commit(core, commit);
        }
        if (commits_ != nullptr) {
            commits_->on_commit(commit.topic);
        }
    }
}

namespace {

/// The header of a batch within a transaction of the producer.
BatchHeader header_in_transaction(ProducerId producer_id, ProducerEpoch producer_epoch) {
    BatchHeader header;
    header.producer_id = producer_id;
    header.producer_epoch = producer_epoch;
    header.base_sequence = Sequence{-1};
    header.attributes.bits = BatchAttributes::kTransactionalBit;
    return header;
}

}  // namespace

std::optional<TransactionVerification> GroupShards::begin_verification(std::string_view group_id, ProducerId producer_id,
                                                                       ProducerEpoch producer_epoch, bool bumps_epoch, Now now) {
    if (!is_attached()) {
        return kNotVerified;
    }
    Shard& shard = *shards()[shard_of(group_id)];
    const MutexLock lock(shard.mutex);
    return shard.partition->log->begin_verification(header_in_transaction(producer_id, producer_epoch), bumps_epoch, now.wall)
        .value_or(std::nullopt);
}

std::optional<groups::OffsetCommitResult> GroupShards::commit_in_transaction(
    logs::Turn& turn, const groups::TransactionalOffsetCommit& command, std::optional<TransactionVerification> verification) {
    if (!is_attached()) {
        return std::nullopt;
    }
    Shard& shard = *shards()[shard_of(command.offsets.group_id)];
    const MutexLock lock(shard.mutex);
    run_due_timers(shard, turn);
    // The core applies a record before it is appended, so check first what the log would refuse. No other thread appends to this
    // log in between.
    const auto taken = shard.partition->log->would_take(
        header_in_transaction(command.producer_id, command.producer_epoch),
        {.now = turn.now().wall, .origin = AppendOrigin::coordinator, .verification = verification});
    if (!taken && shard.state == State::serving) {
        return groups::OffsetCommitResult{.error = append_error_code(taken.error().failure)};
    }
    shard.verification = verification;
    std::optional<groups::OffsetCommitResult> result = ask_locked(shard, turn, command);
    shard.verification.reset();
    return result;
}

void GroupShards::reconfigure(const groups::GroupConfig& config) {
    {
        const MutexLock lock(settings_mutex_);
        config_ = config;
    }
    for_each_core([&](groups::GroupCoordinator& core) { core.reconfigure(config); });
}

void GroupShards::cluster_changed(groups::ClusterPointer cluster, bool has_new_topics) {
    {
        const MutexLock lock(settings_mutex_);
        cluster_ = cluster;
    }
    for_each_core([&](groups::GroupCoordinator& core) { core.cluster_changed(cluster, has_new_topics); });
}

std::size_t GroupShards::group_count() {
    std::size_t count = 0;
    if (is_attached()) {
        for_each_core([&](const groups::GroupCoordinator& core) { count += core.group_count(); });
    }
    return count;
}

std::vector<std::vector<groups::TopicReader>> GroupShards::readers_in(Shard& shard, std::span<groups::TopicQuestion> questions) {
    const std::uint64_t visited = shard.core->queries().groups_visited();
    std::vector<std::vector<groups::TopicReader>> answers = shard.core->queries().readers_of(questions);
    groups_visited_.fetch_add(shard.core->queries().groups_visited() - visited, std::memory_order_relaxed);
    return answers;
}

std::vector<groups::TopicReader> GroupShards::readers_of(std::string_view topic, const TopicId& topic_id) {
    groups::TopicQuestion question{.topic = topic, .topic_id = topic_id};
    return std::move(readers_of({&question, 1}).front());
}

std::vector<std::vector<groups::TopicReader>> GroupShards::readers_of(std::span<groups::TopicQuestion> questions) {
    std::vector<std::vector<groups::TopicReader>> readers(questions.size());
    for (std::size_t index = 0; index < shard_count(); ++index) {
        Shard& shard = *shards()[index];
        const MutexLock lock(shard.mutex);
        if (shard.state == State::rebuilding) {
            continue;
        }
        std::vector<std::vector<groups::TopicReader>> answers = readers_in(shard, questions);
        for (std::size_t question = 0; question < answers.size(); ++question) {
            std::ranges::move(answers[question], std::back_inserter(readers[question]));
        }
    }
    return readers;
}

void GroupShards::refresh_readers(KnownReaders& known, std::string_view topic, const TopicId& topic_id) {
    if (!is_attached()) {
        known.shards.clear();
        return;
    }
    known.shards.resize(shards().size());
    for (std::size_t index = 0; index < shards().size(); ++index) {
        Shard& shard = *shards()[index];
        KnownReaders::Shard& remembered = known.shards[index];
        if (shard.version.load(std::memory_order_acquire) == remembered.version) {
            continue;
        }
        const MutexLock lock(shard.mutex);
        if (shard.state == State::rebuilding) {
            continue;
        }
        remembered.version = shard.version.load(std::memory_order_relaxed);
        groups::TopicQuestion question{.topic = topic, .topic_id = topic_id};
        remembered.readers = std::move(readers_in(shard, {&question, 1}).front());
    }
}

std::optional<std::string> GroupShards::protocol_of(std::string_view group_id) {
    if (!is_attached()) {
        return std::nullopt;
    }
    Shard& shard = *shards()[shard_of(group_id)];
    const MutexLock lock(shard.mutex);
    return shard.core->queries().protocol_of(group_id);
}

std::optional<groups::MemberHoldings> GroupShards::holdings_of(std::string_view group_id, std::string_view member_id) {
    if (!is_attached()) {
        return std::nullopt;
    }
    Shard& shard = *shards()[shard_of(group_id)];
    const MutexLock lock(shard.mutex);
    return shard.core->queries().holdings_of(group_id, member_id);
}

std::optional<insight::GroupHistory> GroupShards::history_of(std::string_view group_id) {
    if (!is_attached()) {
        return std::nullopt;
    }
    Shard& shard = *shards()[shard_of(group_id)];
    const MutexLock lock(shard.mutex);
    return shard.core->queries().history_of(group_id);
}

std::optional<OwnershipRecord> GroupShards::ownership_of(std::string_view group_id) {
    if (!is_attached()) {
        return std::nullopt;
    }
    Shard& shard = *shards()[shard_of(group_id)];
    const MutexLock lock(shard.mutex);
    auto history = shard.core->queries().history_of(group_id);
    if (!history) {
        return std::nullopt;
    }
    return OwnershipRecord{std::move(*history), shard.core->queries().checkpoints_of(group_id)};
}

void GroupShards::visit_histories(FunctionRef<void(std::string_view group_id, const insight::GroupHistory& history)> visit) {
    if (is_attached()) {
        for_each_core([&](const groups::GroupCoordinator& core) { core.queries().visit_histories(visit); });
    }
}

void GroupShards::note_late_reading(std::string_view group_id, std::string_view member_id, std::string_view owner_id,
                                    insight::LateReading seen) {
    if (!is_attached()) {
        return;
    }
    Shard& shard = *shards()[shard_of(group_id)];
    const MutexLock lock(shard.mutex);
    if (shard.core) {
        shard.core->note_late_reading(group_id, member_id, owner_id, std::move(seen));
    }
}

template <class Change>
bool GroupShards::change_offsets(logs::Turn* turn, std::span<const std::string> group_ids, Now now, Change change) {
    std::vector<std::vector<std::string_view>> by_shard(shards().size());
    for (const std::string& group_id : group_ids) {
        by_shard[shard_of(group_id)].push_back(group_id);
    }
    for (std::size_t index = 0; index < by_shard.size(); ++index) {
        Shard& shard = *shards()[index];
        for (std::size_t next = 0; next < by_shard[index].size();) {
            const MutexLock lock(shard.mutex);
            while (next < by_shard[index].size() && shard.effects.records.size() < kSeedRecordsMax) {
                change(*shard.core, by_shard[index][next++], shard.effects);
            }
            if (!settle_records(shard, turn, now)) {
                return false;
            }
        }
    }
    return true;
}

bool GroupShards::seed_offsets(logs::Turn* turn, std::span<const std::string> group_ids, groups::SeedOffsets seeds, Now now) {
    if (!is_attached()) {
        return group_ids.empty();
    }
    return change_offsets(turn, group_ids, now,
                          [&](groups::GroupCoordinator& coordinator, std::string_view group_id, groups::Effects& effects) {
                              seeds.group_id = group_id;
                              coordinator.seed_offsets(seeds, now, effects);
                          });
}

StorageResult<void> GroupShards::sync(std::span<const std::string> group_ids) {
    if (!is_attached()) {
        return std::unexpected(StorageError{StorageError::Kind::closed, 0, "the logs of the groups are not open"});
    }
    std::set<std::size_t> places;
    for (const std::string& group_id : group_ids) {
        places.insert(shard_of(group_id));
    }
    for (const std::size_t place : places) {
        Shard& shard = *shards()[place];
        std::shared_ptr<logs::Partition> partition;
        {
            const MutexLock lock(shard.mutex);
            partition = shard.partition;
        }
        if (!partition->log->has_unsynced_data()) {
            continue;
        }
        PARTITA_TRY(partition->log->sync());
    }
    return {};
}

std::optional<std::size_t> GroupShards::remove_seeds(logs::Turn* turn, std::span<const std::string> group_ids,
                                                     groups::SeedOffsets seeds, Now now) {
    std::size_t removed = 0;
    if (!is_attached()) {
        return removed;
    }
    const bool written = change_offsets(
        turn, group_ids, now, [&](groups::GroupCoordinator& coordinator, std::string_view group_id, groups::Effects& effects) {
            seeds.group_id = group_id;
            removed += coordinator.remove_seeds(seeds, effects);
        });
    return written ? std::optional(removed) : std::nullopt;
}

}  // namespace partita::runtime
