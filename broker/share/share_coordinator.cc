#include "broker/share/share_coordinator.h"

#include <algorithm>
#include <utility>

#include "broker/share/record_codec.h"
#include "broker/share/state_batches.h"
#include "protocol/record_batch_builder.h"
#include "protocol/try.h"

namespace partita::share {
namespace {

template <class R>
void reply(Effects& effects, ReplyToken token, R&& result) {
    effects.replies.push_back({token, Result(std::forward<R>(result))});
}

}  // namespace

std::expected<std::optional<Record>, DecodeError> ShareCoordinator::decode(Bytes key, std::optional<Bytes> value, Arena& arena) {
    return decode_record(key, value, arena);
}

std::expected<void, EncodeError> ShareCoordinator::encode(const Record& record, TimestampMs timestamp, ByteBuffer& scratch,
                                                          BatchBuilder& batch) {
    PARTITA_TRY_ASSIGN(const auto encoded, encode_record(record, scratch));
    batch.append(timestamp, encoded.key, encoded.value);
    return {};
}

// Records -------------------------------------------------------------------------------------------

void ShareCoordinator::replay(const Record& record) {
    std::visit([this](const auto& one) { apply(one); }, record);
}

void ShareCoordinator::apply(const SnapshotRecord& record) {
    State& state = states_[Key(record.key.group_id, record.key.topic_id, record.key.partition)];
    state.snapshot_epoch = record.snapshot_epoch;
    state.state_epoch = std::max(state.state_epoch, record.state_epoch);
    state.leader_epoch = std::max(state.leader_epoch, record.leader_epoch);
    state.start = record.start;
    state.delivery_complete_count = record.delivery_complete_count;
    state.created = record.created;
    state.written = record.written;
    state.batches = record.batches;
    state.has_updates = false;
}

void ShareCoordinator::apply(const UpdateRecord& record) {
    const auto found = find(record.key);
    if (found == states_.end() || found->second.snapshot_epoch != record.snapshot_epoch) {
        // Older than the snapshot: the checkpoint keeps the last update of a Kafka broker beside the snapshot that took it over.
        return;
    }
    State& state = found->second;
    state.leader_epoch = std::max(state.leader_epoch, record.leader_epoch);
    state.start = record.start == kNoOffset ? state.start : record.start;
    state.delivery_complete_count = record.delivery_complete_count;
    state.batches = combined(state.batches, record.batches, state.start);
    state.has_updates = true;
}

void ShareCoordinator::apply(const StateTombstone& record) {
    if (const auto found = find(record.key); found != states_.end()) {
        put_aside(*found);
        states_.erase(found);
    }
}

template <class R>
void ShareCoordinator::change(R record, Effects& effects) {
    record.key.group_id = effects.arena.copy(record.key.group_id);
    apply(record);
    effects.records.emplace_back(std::move(record));
}

ShareCoordinator::States::iterator ShareCoordinator::find(const SharePartitionKey& key) {
    return states_.find(Key(key.group_id, key.topic_id, key.partition));
}

SharePartitionKey ShareCoordinator::key_of(const Key& key) { return {std::get<0>(key), std::get<1>(key), std::get<2>(key)}; }

SnapshotRecord ShareCoordinator::snapshot_of(const States::value_type& entry, Now now) {
    const State& state = entry.second;
    return {.key = key_of(entry.first),
            .snapshot_epoch = state.snapshot_epoch,
            .state_epoch = state.state_epoch,
            .leader_epoch = state.leader_epoch,
            .start = state.start,
            .delivery_complete_count = state.delivery_complete_count,
            .created = now.wall,
            .written = now.wall,
            .batches = state.batches};
}

void ShareCoordinator::loaded(Now now, Effects& effects) {
    for (const States::value_type& entry : states_) {
        if (entry.second.has_updates) {
            SnapshotRecord snapshot = snapshot_of(entry, now);
            ++snapshot.snapshot_epoch;
            change(std::move(snapshot), effects);
        }
    }
}

void ShareCoordinator::topic_deleted(const TopicDeleted& event, Now, Effects& effects) {
    std::vector<Key> gone;
    for (const auto& [key, state] : states_) {
        if (std::get<1>(key) == event.topic_id) {
            gone.push_back(key);
        }
    }
    for (const Key& key : gone) {
        change(StateTombstone{key_of(key)}, effects);
    }
}

// Locks ---------------------------------------------------------------------------------------------

void ShareCoordinator::watch_locks(States::value_type& entry) {
    State& state = entry.second;
    const std::optional<Instant> next = state.partition ? state.partition->next_lock_end() : std::nullopt;
    if (next == state.deadline) {
        return;
    }
    if (state.deadline) {
        deadlines_.erase({*state.deadline, &entry.first});
    }
    state.deadline = next;
    if (next) {
        deadlines_.emplace(*next, &entry.first);
    }
}

void ShareCoordinator::tick(Now now, Effects& effects) {
    while (!deadlines_.empty() && deadlines_.begin()->first <= now.monotonic) {
        const auto entry = states_.find(*deadlines_.begin()->second);
        persist(*entry, entry->second.partition->end_locks(now.monotonic, entry->second.limits), now, effects);
    }
}

std::optional<Instant> ShareCoordinator::next_deadline() const {
    return deadlines_.empty() ? std::nullopt : std::optional(deadlines_.begin()->first);
}

void ShareCoordinator::persist(States::value_type& entry, std::vector<StateBatch> changes, Now now, Effects& effects) {
    State& state = entry.second;
    if (!changes.empty()) {
        SnapshotRecord snapshot = snapshot_of(entry, now);
        snapshot.start = state.partition->start_offset();
        snapshot.delivery_complete_count = state.partition->delivery_complete_count();
        snapshot.batches = combined(state.batches, changes, snapshot.start);
        change(std::move(snapshot), effects);
        state.partition->advance();
    }
    watch_locks(entry);
}

void ShareCoordinator::put_aside(States::value_type& entry) {
    entry.second.partition.reset();
    watch_locks(entry);
}

const SharePartition* ShareCoordinator::in_use(const SharePartitionKey& key) const {
    const auto found = states_.find(Key(key.group_id, key.topic_id, key.partition));
    return found == states_.end() ? nullptr : found->second.partition.get();
}

std::string ShareCoordinator::dump() const {
    std::string text;
    for (const auto& [key, state] : states_) {
        text += "share " + std::get<0>(key) + " " + std::get<1>(key).to_string() + "-" + std::to_string(std::get<2>(key).value) +
                " epochs " + std::to_string(state.snapshot_epoch) + "/" + std::to_string(state.state_epoch) + "/" +
                std::to_string(state.leader_epoch) + " start " + std::to_string(state.start.value) + " complete " +
                std::to_string(state.delivery_complete_count);
        for (const StateBatch& batch : state.batches) {
            text += " [" + std::to_string(batch.first.value) + "-" + std::to_string(batch.last.value) + " state " +
                    std::to_string(static_cast<int>(batch.state)) + " x" + std::to_string(batch.delivery_count) + "]";
        }
        text += "\n";
    }
    return text;
}

// Commands of brokers -------------------------------------------------------------------------------

std::optional<ErrorCode> ShareCoordinator::fence(const State& state, std::int32_t state_epoch, std::int32_t leader_epoch) {
    if (leader_epoch != -1 && leader_epoch < state.leader_epoch) {
        return ErrorCode::fenced_leader_epoch;
    }
    if (state_epoch != -1 && state_epoch < state.state_epoch) {
        return ErrorCode::fenced_state_epoch;
    }
    return std::nullopt;
}

void ShareCoordinator::decide(const InitializeState& command, Now now, Effects& effects) {
    const auto found = find(command.key);
    const bool is_known = found != states_.end();
    if (is_known) {
        if (const auto fenced = fence(found->second, command.state_epoch, -1)) {
            return reply(effects, command.reply_to, StateResult{*fenced, {}});
        }
        put_aside(*found);
    }
    change(SnapshotRecord{.key = command.key,
                          .snapshot_epoch = is_known ? found->second.snapshot_epoch + 1 : 0,
                          .state_epoch = command.state_epoch,
                          .leader_epoch = 0,
                          .start = command.start,
                          .delivery_complete_count = command.start == kUnsetStart ? -1 : 0,
                          .created = now.wall,
                          .written = now.wall,
                          .batches = {}},
           effects);
    reply(effects, command.reply_to, StateResult{});
}

void ShareCoordinator::raise_leader_epoch(const States::value_type& entry, std::int32_t leader_epoch, Now now, Effects& effects) {
    if (leader_epoch == -1 || leader_epoch == entry.second.leader_epoch) {
        return;
    }
    SnapshotRecord snapshot = snapshot_of(entry, now);
    snapshot.leader_epoch = leader_epoch;
    change(std::move(snapshot), effects);
}

void ShareCoordinator::decide(const ReadState& command, Now now, Effects& effects) {
    const auto found = find(command.key);
    if (found == states_.end()) {
        return reply(effects, command.reply_to,
                     ReadStateResult{.error = ErrorCode::invalid_request,
                                     .message = "Read operation on uninitialized share partition not allowed.",
                                     .batches = {}});
    }
    const State& state = found->second;
    if (const auto fenced = fence(state, -1, command.leader_epoch)) {
        return reply(effects, command.reply_to, ReadStateResult{.error = *fenced, .message = {}, .batches = {}});
    }
    ReadStateResult result{.message = {}, .state_epoch = state.state_epoch, .start = state.start, .batches = state.batches};
    raise_leader_epoch(*found, command.leader_epoch, now, effects);
    reply(effects, command.reply_to, std::move(result));
}

void ShareCoordinator::decide(const WriteState& command, Now now, Effects& effects) {
    const auto found = find(command.key);
    if (found == states_.end()) {
        return reply(effects, command.reply_to,
                     StateResult{ErrorCode::invalid_request, "Write operation on uninitialized share partition not allowed."});
    }
    State& state = found->second;
    if (const auto fenced = fence(state, command.state_epoch, command.leader_epoch)) {
        return reply(effects, command.reply_to, StateResult{*fenced, {}});
    }
    // Another broker decides about the partition.
    put_aside(*found);
    SnapshotRecord snapshot = snapshot_of(*found, now);
    snapshot.start = command.start == kNoOffset ? state.start : command.start;
    snapshot.delivery_complete_count = command.delivery_complete_count;
    snapshot.batches = combined(state.batches, command.batches, snapshot.start);
    change(std::move(snapshot), effects);
    reply(effects, command.reply_to, StateResult{});
}

void ShareCoordinator::decide(const ReadSummary& command, Now, Effects& effects) {
    const auto found = find(command.key);
    if (found == states_.end()) {
        return reply(effects, command.reply_to, SummaryResult{});
    }
    const State& state = found->second;
    reply(effects, command.reply_to,
          SummaryResult{.state_epoch = state.state_epoch,
                        .leader_epoch = state.leader_epoch,
                        .start = state.start,
                        .delivery_complete_count = state.delivery_complete_count});
}

void ShareCoordinator::decide(const DeleteState& command, Now, Effects& effects) {
    if (find(command.key) != states_.end()) {
        change(StateTombstone{command.key}, effects);
    }
    reply(effects, command.reply_to, StateResult{});
}

// Commands of members -------------------------------------------------------------------------------

void ShareCoordinator::decide(const PlanFetch& command, Now now, Effects& effects) {
    const auto found = find(command.key);
    if (found == states_.end()) {
        return reply(effects, command.reply_to,
                     FetchPlan{.error = ErrorCode::unknown_server_error,
                               .message = "Read operation on uninitialized share partition not allowed.",
                               .from = {},
                               .start = {}});
    }
    State& state = found->second;
    state.limits = command.limits;
    if (!state.partition) {
        if (fence(state, -1, command.leader_epoch)) {
            return reply(effects, command.reply_to,
                         FetchPlan{.error = ErrorCode::not_leader_or_follower, .message = {}, .from = {}, .start = {}});
        }
        if (state.start == kUnsetStart && !command.start) {
            return reply(effects, command.reply_to, FetchPlan{.message = {}, .needs_start = true, .from = {}, .start = {}});
        }
        const Offset start = state.start == kUnsetStart ? *command.start : state.start;
        if (!SharePartition::is_valid(start, state.batches)) {
            return reply(effects, command.reply_to,
                         FetchPlan{.error = ErrorCode::unknown_server_error,
                                   .message = "Failed to initialize the share partition",
                                   .from = {},
                                   .start = {}});
        }
        raise_leader_epoch(*found, command.leader_epoch, now, effects);
        state.partition = std::make_unique<SharePartition>(start, state.batches);
    }
    SharePartition& partition = *state.partition;
    reply(effects, command.reply_to,
          FetchPlan{.message = {},
                    .can_acquire = partition.can_acquire(command.limits),
                    .from = partition.next_fetch_offset(),
                    .start = partition.start_offset()});
}

void ShareCoordinator::decide(const AcquireRecords& command, Now now, Effects& effects) {
    const auto found = find(command.key);
    AcquireResult result;
    if (found == states_.end() || !found->second.partition) {
        result.error = ErrorCode::unknown_topic_or_partition;
    } else {
        found->second.limits = command.limits;
        result.ranges = found->second.partition->acquire(command.wanted, command.limits, now.monotonic);
        watch_locks(*found);
    }
    reply(effects, command.reply_to, std::move(result));
}

void ShareCoordinator::decide(const AcknowledgeRecords& command, Now now, Effects& effects) {
    const auto found = find(command.key);
    if (found == states_.end() || !found->second.partition) {
        return reply(effects, command.reply_to, StateResult{ErrorCode::unknown_topic_or_partition, {}});
    }
    found->second.limits = command.limits;
    auto changes = found->second.partition->acknowledge(command.member, command.given, command.limits, now.monotonic);
    if (!changes) {
        watch_locks(*found);
        return reply(effects, command.reply_to, StateResult{changes.error().error, std::move(changes.error().message)});
    }
    persist(*found, std::move(*changes), now, effects);
    reply(effects, command.reply_to, StateResult{});
}

void ShareCoordinator::decide(const ReleaseRecords& command, Now now, Effects& effects) {
    const auto found = find(command.key);
    if (found == states_.end() || !found->second.partition) {
        return reply(effects, command.reply_to, StateResult{ErrorCode::unknown_topic_or_partition, {}});
    }
    persist(*found, found->second.partition->release(command.member, command.limits), now, effects);
    reply(effects, command.reply_to, StateResult{});
}

void ShareCoordinator::decide(const FollowLogStart& command, Now, Effects& effects) {
    const auto found = find(command.key);
    if (found != states_.end() && found->second.partition) {
        found->second.partition->log_start_moved(command.log_start);
    }
    reply(effects, command.reply_to, StateResult{});
}

void ShareCoordinator::decide(const PutAside& command, Now, Effects& effects) {
    const auto found = find(command.key);
    // A member that holds records has begun to read since the sender saw the group idle.
    const bool is_held = found != states_.end() && found->second.partition && found->second.partition->next_lock_end();
    if (found != states_.end() && !is_held) {
        put_aside(*found);
    }
    reply(effects, command.reply_to, StateResult{});
}

}  // namespace partita::share
