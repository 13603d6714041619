#include "broker/runtime/coordinators/group_shards.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "broker/config/log_setup.h"
#include "broker/groups/record_appender.h"
#include "broker/groups/record_codec.h"
#include "broker/runtime/loop/fail_stop.h"
#include "broker/runtime/loop/failure_log.h"
#include "broker/runtime/loop/upkeep_bell.h"
#include "broker/runtime/partitions/internal_logs.h"
#include "broker/runtime/partitions/turns.h"
#include "protocol/assert.h"
#include "protocol/record_batch_builder.h"
#include "protocol/utf16.h"
#include "storage/keyed_log_checkpoint.h"

namespace partita::runtime {
namespace {

constexpr std::int64_t kNoDeadlineMs = std::numeric_limits<std::int64_t>::max();

/// Where a batch of records is made. Kept for the next one, unless it was a very large one.
constexpr std::size_t kBatchMemoryKeptBytes = 1 << 20;
struct BatchMemory {
    BatchBuilder builder{BatchOptions()};
    ByteBuffer scratch;
    std::vector<std::byte> batch;
};

/// Java's String.hashCode of the text.
std::int32_t java_string_hash(std::string_view text) {
    std::uint32_t hash = 0;
    for_each_utf16_unit(text, [&hash](std::uint32_t unit) { hash = 31 * hash + unit; });
    return static_cast<std::int32_t>(hash);
}

}  // namespace

std::size_t group_shard_index(std::string_view group_id, std::size_t shards) {
    const std::int32_t hash = java_string_hash(group_id);
    // Kafka's Utils.abs: the one number without a positive twin counts as 0.
    const std::int32_t positive = hash == std::numeric_limits<std::int32_t>::min() ? 0 : std::abs(hash);
    return static_cast<std::size_t>(positive) % shards;
}

bool GroupShards::attach(std::span<const std::shared_ptr<Partition>> partitions, const groups::GroupConfig& config) {
    PARTITA_ASSERT(!is_attached(), "the offsets topic is set up once in its life");
    if (!shards_.empty()) {
        // A thread that has yet to see that they were detached may be using the shards: they are kept.
        if (shards_.size() != partitions.size()) {
            return false;
        }
        for (std::size_t index = 0; index < shards_.size(); ++index) {
            const std::scoped_lock lock(shards_[index]->mutex);
            turn_away(*shards_[index]);
            shards_[index]->partition = partitions[index];
        }
        return true;
    }
    {
        const std::scoped_lock lock(settings_mutex_);
        config_ = config;
    }
    for (const std::shared_ptr<Partition>& partition : partitions) {
        auto shard = std::make_unique<Shard>();
        shard->partition = partition;
        shard->deadline_ms = kNoDeadlineMs;
        shards_.push_back(std::move(shard));
    }
    return true;
}

void GroupShards::forget_all(Now now) {
    attached_.store(false, std::memory_order_release);
    for (const std::unique_ptr<Shard>& shard : shards_) {
        const std::scoped_lock lock(shard->mutex);
        set_state(*shard, State::gone);
        throw_away(*shard, now);
        update_deadline(*shard);
    }
}

StorageResult<void> GroupShards::load(Now now) {
    for (const std::unique_ptr<Shard>& shard : shards_) {
        auto rebuilt = rebuild(*shard->partition);
        if (!rebuilt) {
            return std::unexpected(rebuilt.error());
        }
        const std::scoped_lock lock(shard->mutex);
        begin_serving(*shard, std::move(*rebuilt), now);
    }
    attached_.store(true, std::memory_order_release);
    return {};
}

void GroupShards::serve(Now now) {
    for (const std::unique_ptr<Shard>& shard : shards_) {
        const std::scoped_lock lock(shard->mutex);
        if (shard->partition->log->log_end_offset() == Offset{0}) {
            begin_serving(*shard, new_coordinator(), now);
        } else {
            make_empty(*shard, State::rebuilding, now);
            upkeep_.coordinator_lost();
        }
    }
    attached_.store(true, std::memory_order_release);
}

bool GroupShards::rebuild_lost() {
    if (!is_attached()) {
        return true;
    }
    bool is_done = true;
    for (const std::unique_ptr<Shard>& shard : shards_) {
        std::shared_ptr<Partition> partition;
        {
            const std::scoped_lock lock(shard->mutex);
            if (shard->state != State::rebuilding) {
                continue;
            }
            partition = shard->partition;
        }
        // Without the lock: nobody appends to the log of a shard in this state.
        auto rebuilt = rebuild(*partition);
        const std::scoped_lock lock(shard->mutex);
        if (shard->state != State::rebuilding || shard->partition != partition) {
            continue;
        }
        if (rebuilt) {
            begin_serving(*shard, std::move(*rebuilt), turns_.clock().now());
        } else if (rebuilt.error().kind == StorageError::Kind::io || rebuilt.error().kind == StorageError::Kind::closed) {
            is_done = false;
            failures_.group_append_failed(partition->log->directory_name(), rebuilt.error().message);
        } else {
            fail_stop(rebuilt.error());
        }
    }
    return is_done;
}

std::unique_ptr<groups::GroupCoordinator> GroupShards::new_coordinator() {
    const std::scoped_lock lock(settings_mutex_);
    auto coordinator = std::make_unique<groups::GroupCoordinator>(config_);
    if (cluster_) {
        // Nobody knows which topics are new to expressions that were resolved before.
        coordinator->cluster_changed(cluster_, true);
    }
    return coordinator;
}

StorageResult<std::unique_ptr<groups::GroupCoordinator>> GroupShards::rebuild(const Partition& partition) {
    auto coordinator = new_coordinator();
    Arena arena;
    const auto visit = [&](const KeyedRecord& persisted) -> StorageResult<void> {
        arena.reset();
        const auto record = groups::decode_record(persisted.key, persisted.value, arena);
        if (!record) {
            return std::unexpected(corrupt_error(
                partition.log->directory_path(),
                "a record cannot be read: " + std::string(to_string(record.error().failure))));
        }
        if (*record) {
            coordinator->replay(**record);
        }
        return {};
    };
    const auto replayed = replay_keyed_log(*partition.log, store_, visit);
    if (!replayed) {
        return std::unexpected(replayed.error());
    }
    report_rewound_checkpoint(*partition.log, replayed->rewound_records);
    return coordinator;
}

void GroupShards::begin_serving(Shard& shard, std::unique_ptr<groups::GroupCoordinator> coordinator, Now now) {
    shard.coordinator = std::move(coordinator);
    shard.version.fetch_add(1, std::memory_order_release);
    membership_version_.fetch_add(1, std::memory_order_release);
    shard.effects.clear();
    {
        // What changed while it was rebuilt passed it by.
        const std::scoped_lock lock(settings_mutex_);
        shard.coordinator->reconfigure(config_);
        if (cluster_) {
            shard.coordinator->cluster_changed(cluster_, true);
        }
    }
    shard.coordinator->loaded(now, shard.effects);
    for (const auto& [name, id] : shard.missed_deletions) {
        shard.coordinator->topic_deleted({.name = name, .topic_id = id}, now, shard.effects);
    }
    set_state(shard, State::serving);
    settle(shard, nullptr, now, std::nullopt);
    if (shard.state == State::serving) {
        shard.missed_deletions.clear();
    }
}

void GroupShards::make_empty(Shard& shard, State state, Now now) {
    shard.coordinator = new_coordinator();
    shard.version.fetch_add(1, std::memory_order_release);
    membership_version_.fetch_add(1, std::memory_order_release);
    shard.effects.clear();
    shard.coordinator->loaded(now, shard.effects);
    if (state == State::gone) {
        shard.missed_deletions.clear();
    }
    set_state(shard, state);
}

void GroupShards::set_state(Shard& shard, State state) {
    const int change = (state == State::rebuilding ? 1 : 0) - (shard.state == State::rebuilding ? 1 : 0);
    shard.state = state;
    rebuilding_.fetch_add(change, std::memory_order_acq_rel);
}

void GroupShards::reconfigure(const groups::GroupConfig& config) {
    {
        const std::scoped_lock lock(settings_mutex_);
        config_ = config;
    }
    for (const std::unique_ptr<Shard>& shard : shards_) {
        const std::scoped_lock lock(shard->mutex);
        if (shard->coordinator) {
            shard->coordinator->reconfigure(config);
        }
    }
}

void GroupShards::cluster_changed(groups::ClusterPointer cluster, bool has_new_topics) {
    {
        const std::scoped_lock lock(settings_mutex_);
        cluster_ = cluster;
    }
    for (const std::unique_ptr<Shard>& shard : shards_) {
        const std::scoped_lock lock(shard->mutex);
        if (shard->coordinator) {
            shard->coordinator->cluster_changed(cluster, has_new_topics);
        }
    }
}

void GroupShards::execute(
    Turn& turn, std::string_view group_id, const PendingReply& pending,
    const std::function<void(groups::GroupCoordinator&, groups::ReplyToken, groups::Effects&)>& command) {
    Shard& shard = *shards_[shard_of(group_id)];
    const std::scoped_lock lock(shard.mutex);
    const groups::ReplyToken token{next_token_.fetch_add(1, std::memory_order_relaxed)};
    shard.waiting.emplace(token.value, pending);
    command(*shard.coordinator, token, shard.effects);
    settle(shard, &turn, turn.now(), std::nullopt);
}

std::optional<groups::Result> GroupShards::ask(
    Turn& turn, std::string_view group_id,
    const std::function<void(groups::GroupCoordinator&, groups::ReplyToken, groups::Effects&)>& command) {
    if (!is_attached()) {
        return std::nullopt;
    }
    return ask_shard(turn, shard_of(group_id), command);
}

std::optional<groups::Result> GroupShards::ask_shard(
    Turn& turn, std::size_t index,
    const std::function<void(groups::GroupCoordinator&, groups::ReplyToken, groups::Effects&)>& command) {
    Shard& shard = *shards_[index];
    const std::scoped_lock lock(shard.mutex);
    const groups::ReplyToken token{next_token_.fetch_add(1, std::memory_order_relaxed)};
    command(*shard.coordinator, token, shard.effects);
    return settle(shard, &turn, turn.now(), token);
}

std::vector<groups::TopicReader> GroupShards::readers_of(std::string_view topic, const TopicId& topic_id) {
    groups::TopicQuestion question{.topic = topic, .topic_id = topic_id};
    return std::move(readers_of({&question, 1}).front());
}

std::vector<std::vector<groups::TopicReader>> GroupShards::readers_of(std::span<groups::TopicQuestion> questions) {
    std::vector<std::vector<groups::TopicReader>> readers(questions.size());
    for (std::size_t index = 0; index < shard_count(); ++index) {
        Shard& shard = *shards_[index];
        const std::scoped_lock lock(shard.mutex);
        if (shard.state == State::rebuilding) {
            continue;
        }
        const std::uint64_t visited = shard.coordinator->groups_visited();
        std::vector<std::vector<groups::TopicReader>> answers = shard.coordinator->readers_of(questions);
        groups_visited_.fetch_add(shard.coordinator->groups_visited() - visited, std::memory_order_relaxed);
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
    known.shards.resize(shards_.size());
    for (std::size_t index = 0; index < shards_.size(); ++index) {
        Shard& shard = *shards_[index];
        KnownReaders::Shard& remembered = known.shards[index];
        if (shard.version.load(std::memory_order_acquire) == remembered.version) {
            continue;
        }
        const std::scoped_lock lock(shard.mutex);
        if (shard.state == State::rebuilding) {
            continue;
        }
        remembered.version = shard.version.load(std::memory_order_relaxed);
        const std::uint64_t visited = shard.coordinator->groups_visited();
        remembered.readers = shard.coordinator->readers_of(topic, topic_id);
        groups_visited_.fetch_add(shard.coordinator->groups_visited() - visited, std::memory_order_relaxed);
    }
}

std::optional<std::string> GroupShards::protocol_of(std::string_view group_id) {
    if (!is_attached()) {
        return std::nullopt;
    }
    Shard& shard = *shards_[shard_of(group_id)];
    const std::scoped_lock lock(shard.mutex);
    return shard.coordinator->protocol_of(group_id);
}

std::optional<groups::MemberHoldings> GroupShards::holdings_of(std::string_view group_id, std::string_view member_id) {
    if (!is_attached()) {
        return std::nullopt;
    }
    Shard& shard = *shards_[shard_of(group_id)];
    const std::scoped_lock lock(shard.mutex);
    return shard.coordinator->holdings_of(group_id, member_id);
}

template <class Change>
bool GroupShards::change_offsets(Turn* turn, std::span<const std::string> group_ids, Now now, Change change) {
    std::vector<std::vector<std::string_view>> by_shard(shards_.size());
    for (const std::string& group_id : group_ids) {
        by_shard[shard_of(group_id)].push_back(group_id);
    }
    for (std::size_t index = 0; index < by_shard.size(); ++index) {
        Shard& shard = *shards_[index];
        for (std::size_t next = 0; next < by_shard[index].size();) {
            const std::scoped_lock lock(shard.mutex);
            while (next < by_shard[index].size() && shard.effects.records.size() < kSeedRecordsMax) {
                change(*shard.coordinator, by_shard[index][next++], shard.effects);
            }
            if (!settle_records(shard, turn, now)) {
                return false;
            }
        }
    }
    return true;
}

bool GroupShards::seed_offsets(Turn* turn, std::span<const std::string> group_ids, groups::SeedOffsets seeds, Now now) {
    if (!is_attached()) {
        return group_ids.empty();
    }
    return change_offsets(turn, group_ids, now, [&](groups::GroupCoordinator& coordinator, std::string_view group_id, groups::Effects& effects) {
        seeds.group_id = group_id;
        coordinator.seed_offsets(seeds, now, effects);
    });
}

std::optional<std::size_t> GroupShards::remove_seeds(Turn* turn, std::span<const std::string> group_ids,
                                                     groups::SeedOffsets seeds, Now now) {
    std::size_t removed = 0;
    if (!is_attached()) {
        return removed;
    }
    const bool written =
        change_offsets(turn, group_ids, now, [&](groups::GroupCoordinator& coordinator, std::string_view group_id, groups::Effects& effects) {
            seeds.group_id = group_id;
            removed += coordinator.remove_seeds(seeds, effects);
        });
    return written ? std::optional(removed) : std::nullopt;
}

bool GroupShards::settle_records(Shard& shard, Turn* turn, Now now) {
    const bool persisted =
        shard.state != State::rebuilding && (shard.effects.records.empty() || persist(shard, turn, now));
    if (!persisted) {
        throw_away(shard, now);
    }
    shard.effects.clear();
    update_deadline(shard);
    return persisted;
}

void GroupShards::topic_deleted(Turn* turn, const groups::TopicDeleted& event, Now now) {
    if (!is_attached()) {
        return;
    }
    for (const std::unique_ptr<Shard>& shard : shards_) {
        const std::scoped_lock lock(shard->mutex);
        if (shard->state == State::rebuilding) {
            shard->missed_deletions.emplace_back(event.name, event.topic_id);
            continue;
        }
        shard->coordinator->topic_deleted(event, now, shard->effects);
        settle(*shard, turn, now, std::nullopt);
        if (shard->state == State::rebuilding) {
            shard->missed_deletions.emplace_back(event.name, event.topic_id);
        }
    }
}

void GroupShards::tick(Turn& turn, Now now) {
    if (!is_attached()) {
        return;
    }
    for (const std::unique_ptr<Shard>& shard : shards_) {
        if (shard->deadline_ms.load(std::memory_order_relaxed) > now.monotonic.value) {
            continue;
        }
        const std::scoped_lock lock(shard->mutex);
        shard->coordinator->tick(now, shard->effects);
        settle(*shard, &turn, now, std::nullopt);
    }
}

std::optional<Instant> GroupShards::next_deadline() const {
    if (!is_attached()) {
        return std::nullopt;
    }
    std::int64_t next = kNoDeadlineMs;
    for (const std::unique_ptr<Shard>& shard : shards_) {
        next = std::min(next, shard->deadline_ms.load(std::memory_order_relaxed));
    }
    if (next == kNoDeadlineMs) {
        return std::nullopt;
    }
    return Instant{next};
}

void GroupShards::fail_waiting(Turn& turn) {
    if (!is_attached()) {
        return;
    }
    for (const std::unique_ptr<Shard>& shard : shards_) {
        const std::scoped_lock lock(shard->mutex);
        shard->coordinator->fail_waiting(ErrorCode::not_coordinator, shard->effects);
        settle(*shard, &turn, turn.now(), std::nullopt);
    }
}

std::size_t GroupShards::group_count() {
    std::size_t count = 0;
    if (is_attached()) {
        for (const std::unique_ptr<Shard>& shard : shards_) {
            const std::scoped_lock lock(shard->mutex);
            count += shard->coordinator->group_count();
        }
    }
    return count;
}

std::optional<groups::Result> GroupShards::settle(Shard& shard, Turn* turn, Now now,
                                                  std::optional<groups::ReplyToken> own) {
    std::optional<groups::Result> result;
    if (shard.state != State::serving || (!shard.effects.records.empty() && !persist(shard, turn, now))) {
        throw_away(shard, now);
    } else {
        for (groups::Reply& reply : shard.effects.replies) {
            if (own && reply.token == *own) {
                result = std::move(reply.result);
            } else {
                send(shard, reply);
            }
        }
    }
    shard.effects.clear();
    update_deadline(shard);
    return result;
}

bool GroupShards::persist(Shard& shard, Turn* turn, Now now) {
    // One for each thread and not for each shard: what was written last is still in the processor's cache.
    thread_local BatchMemory memory;
    memory.batch.clear();
    for (const groups::Record& record : shard.effects.records) {
        if (const auto added = groups::append_record(record, now.wall, memory.scratch, memory.builder); !added) {
            log::error("groups", "a record is too large for the log",
                       {{"log", shard.partition->log->directory_name()}, {"reason", to_string(added.error().failure)}});
            memory.builder.reset({});
            return false;
        }
    }
    memory.builder.build(memory.batch);
    const auto appended =
        shard.partition->log->append(memory.batch, {.leader_epoch = shard.partition->leader_epoch(), .now = now.wall});
    if (!appended) {
        failures_.group_append_failed(shard.partition->log->directory_name(), appended.error().message);
        return false;
    }
    shard.version.fetch_add(1, std::memory_order_release);
    // Offsets of a topic come one behind the other, with one name for all of them.
    const char* topic_told = nullptr;
    bool changes_membership = false;
    for (const groups::Record& record : shard.effects.records) {
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
    if (turn != nullptr) {
        turn->appended(*shard.partition, memory.batch.size());
    } else {
        // Not on a reactor: those whose readers wait are told.
        turns_.post_change(*shard.partition);
    }
    upkeep_.data_written();
    if (memory.batch.capacity() > kBatchMemoryKeptBytes) {
        memory = BatchMemory();
    }
    return true;
}

void GroupShards::throw_away(Shard& shard, Now now) {
    // Nobody was told of what could not be written. Those who wait, and those whose replies were in the
    // lost effects, find their coordinator again and repeat themselves.
    turn_away(shard);
    for (groups::Reply& reply : shard.effects.replies) {
        if (shard.waiting.contains(reply.token.value)) {
            std::visit([](auto& result) {
                if constexpr (requires { result.error; }) {
                    result = {};
                    result.error = ErrorCode::not_coordinator;
                }
            }, reply.result);
            send(shard, reply);
        }
    }
    const bool is_news = shard.state == State::serving;
    make_empty(shard, is_news ? State::rebuilding : shard.state, now);
    if (is_news) {
        upkeep_.coordinator_lost();
    }
}

void GroupShards::turn_away(Shard& shard) {
    groups::Effects failed;
    shard.coordinator->fail_waiting(ErrorCode::not_coordinator, failed);
    for (groups::Reply& reply : failed.replies) {
        send(shard, reply);
    }
}

void GroupShards::send(Shard& shard, groups::Reply& reply) {
    const auto waiting = shard.waiting.find(reply.token.value);
    if (waiting == shard.waiting.end()) {
        return;
    }
    const PendingReply pending = waiting->second;
    shard.waiting.erase(waiting);
    turns_.deliver(pending.target, encoder_(pending, reply.result));
}

void GroupShards::update_deadline(Shard& shard) {
    const std::optional<Instant> deadline = shard.coordinator->next_deadline();
    const std::int64_t deadline_ms = deadline ? deadline->value : kNoDeadlineMs;
    const std::int64_t before = shard.deadline_ms.exchange(deadline_ms, std::memory_order_relaxed);
    if (deadline_ms < before) {
        turns_.first_reactor().wake_at(Instant{deadline_ms});
    }
}

}  // namespace partita::runtime
