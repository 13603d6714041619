#include "storage/partition_log.h"

#include <algorithm>
#include <utility>

#include "protocol/assert.h"
#include "protocol/recycled_blocks.h"
#include "protocol/try.h"
#include "storage/append_refusal.h"
#include "storage/partition_log_appender.h"
#include "storage/partition_log_state.h"

namespace partita {
namespace {

/// A request may stage in this many logs before it flushes the first of them.
constexpr std::size_t kKeptFlushGroups = 1024;

}  // namespace

std::expected<void, AppendError> StagedAppend::result() const {
    if (group == nullptr) {
        return {};
    }
    PARTITA_ASSERT(group->resolved, "the result is asked for after flush_staged");
    if (last_offset < group->published_end) {
        return {};
    }
    return std::unexpected(group->error);
}

StorageResult<void> LogEnvironment::sync_names() const {
    if (auto synced = file_system.sync_directory(directory); !synced || !name_unsynced) {
        return synced;
    }
    auto synced = file_system.sync_directory(parent_directory(directory));
    // Two concurrent callers both sync, and neither returns before the name is durable.
    if (synced) {
        name_unsynced = false;
    }
    return synced;
}

LogCore::~LogCore() { delete state.load(); }

std::string LogCore::directory_name() const { return topic->name + "-" + std::to_string(partition.value); }

std::string LogCore::directory_path() const { return join_path(environment.directory, directory_name()); }

PartitionLog::PartitionLog(const LogEnvironment& environment, std::shared_ptr<const LogTopic> topic, PartitionIndex partition,
                           std::shared_ptr<const LogConfig> config)
    : core_(environment, std::move(topic), partition, std::move(config)) {}

PartitionLog::~PartitionLog() = default;

std::string PartitionLog::directory_name() const { return core_.directory_name(); }

std::string PartitionLog::directory_path() const { return core_.directory_path(); }

bool PartitionLog::has_files() const {
    const MutexLock lock(core_.view_mutex);
    const PartitionLogState* state = core_.state.load();
    if (state == nullptr) {
        return false;
    }
    state->assert_viewer();
    return !state->shown.segments.empty();
}

PartitionLogState& PartitionLog::state_for_append() {
    if (core_.state.load() == nullptr) {
        const MutexLock view(core_.view_mutex);
        core_.state.store(new PartitionLogState(core_));
    }
    PartitionLogState& state = *core_.state.load();
    state.assert_appender();
    return state;
}

std::expected<StagedAppend, AppendError> PartitionLog::stage(MutableBytes batch, const AppendContext& context) {
    auto header = parse_batch_header(batch);
    if (!header) {
        return refuse(AppendFailure::malformed_batch, std::string(batch_error_text(header.error())));
    }
    if (header->size_bytes() != batch.size()) {
        return refuse(AppendFailure::malformed_batch, "the batch's length is not that of its bytes");
    }
    if (header->last_offset_delta < 0) {
        return refuse(AppendFailure::malformed_batch, "negative last offset delta");
    }
    if (header->has_producer_id() && !header->attributes.is_control() && header->base_sequence.value < 0 &&
        context.origin == AppendOrigin::client) {
        return refuse(AppendFailure::malformed_batch, "a producer id without a sequence");
    }

    const MutexLock lock(core_.append_mutex);
    if (core_.is_closed_for_appender()) {
        return refuse(AppendFailure::closed, "the log is closed");
    }
    PartitionLogState& state = state_for_append();
    state.assert_appender();
    if (state.sync_failed) {
        return refuse(AppendFailure::storage_error, "an earlier sync of this log failed");
    }
    if (state.staged.size() >= PartitionLogState::kMaximumStaged) {
        return refuse(AppendFailure::storage_error, "too many batches wait to be written");
    }
    // Epochs never go back. The one of the context may have been read before another thread staged a batch with the next.
    const LeaderEpoch leader_epoch = std::max(context.leader_epoch, state.last_staged_epoch);
    PARTITA_ASSERT(state.next_offset >= log_end_offset(), "what is staged follows what is written");

    header->base_offset = state.next_offset;
    header->partition_leader_epoch = leader_epoch;
    StagedBatch staged;
    staged.bytes = batch;
    staged.header = *header;
    staged.now = context.now;
    staged.leader_epoch = leader_epoch;
    if (header->has_producer_id()) {
        std::optional<ControlMarker> marker;
        if (header->attributes.is_control()) {
            marker = parse_control_marker({*header, batch});
        }
        if (marker || !header->attributes.is_control()) {
            auto checked = state.producers.prepare(*header, marker, context);
            if (!checked) {
                checked.error().message += " in partition " + directory_name();
                return std::unexpected(std::move(checked.error()));
            }
            if (const auto* duplicate = std::get_if<ProducerState::Duplicate>(&*checked)) {
                // The original may still be staged itself; this one then shares its fate.
                const bool is_published = duplicate->last_offset < log_end_offset();
                return StagedAppend{.base_offset = duplicate->base_offset,
                                    .last_offset = duplicate->last_offset,
                                    .duplicate = true,
                                    .duplicate_timestamp = duplicate->timestamp,
                                    .group = is_published ? nullptr : state.group};
            }
            const auto& update = std::get<ProducerState::Update>(*checked);
            staged.completed = update.completed;
            staged.undo = std::ssize(state.undo);
            state.undo.push_back(state.producers.commit(update));
            staged.stable_end = state.producers.first_open_transaction().value_or(header->next_offset());
        }
    }
    patch_base_offset_and_epoch(batch, header->base_offset, leader_epoch);
    PARTITA_ASSERT(base_offset_of(batch) == header->base_offset, "the bytes carry the offset that the batch is staged at");
    state.last_staged_epoch = leader_epoch;
    state.next_offset = header->next_offset();
    if (state.group == nullptr) {
        state.group = std::allocate_shared<FlushGroup>(RecyclingAllocator<FlushGroup, kKeptFlushGroups>());
    }
    state.staged.push_back(staged);
    return StagedAppend{.base_offset = header->base_offset, .last_offset = header->last_offset(), .group = state.group};
}

std::expected<std::optional<TransactionVerification>, AppendError> PartitionLog::begin_verification(const BatchHeader& header,
                                                                                                    bool bumps_epoch,
                                                                                                    TimestampMs now) {
    const MutexLock lock(core_.append_mutex);
    if (core_.is_closed_for_appender()) {
        return refuse(AppendFailure::closed, "the log is closed");
    }
    PartitionLogState& state = state_for_append();
    state.assert_appender();
    return state.producers.begin_verification(header, bumps_epoch, now);
}

std::expected<void, AppendError> PartitionLog::would_take(const BatchHeader& header, const AppendContext& context) {
    const MutexLock lock(core_.append_mutex);
    if (core_.is_closed_for_appender()) {
        return refuse(AppendFailure::closed, "the log is closed");
    }
    PartitionLogState& state = state_for_append();
    state.assert_appender();
    PARTITA_TRY(state.producers.prepare(header, std::nullopt, context));
    return {};
}

void PartitionLog::flush_staged(WriteBreadth breadth) {
    const MutexLock lock(core_.append_mutex);
    PartitionLogState* state = core_.state.load();
    if (state == nullptr) {
        return;
    }
    state->assert_appender();
    if (!state->staged.empty()) {
        LogAppender(*state).write_staged(breadth);
    }
}

std::expected<StagedAppend, AppendError> PartitionLog::append(MutableBytes batch, const AppendContext& context) {
    PARTITA_TRY_ASSIGN(const auto staged, stage(batch, context));
    flush_staged();
    PARTITA_TRY(staged.result());
    return staged;
}

void PartitionLog::set_config(std::shared_ptr<const LogConfig> config) {
    const MutexLock lock(core_.append_mutex);
    const MutexLock view(core_.view_mutex);
    core_.config = std::move(config);
}

void PartitionLog::mark_deleted() {
    const MutexLock lock(core_.append_mutex);
    PartitionLogState* state = core_.state.load();
    if (state != nullptr) {
        state->assert_appender();
        if (!state->staged.empty()) {
            LogAppender(*state).fail_staged("the log was deleted");
        }
    }
    const MutexLock view(core_.view_mutex);
    core_.closed = true;
    if (state == nullptr) {
        return;
    }
    state->assert_viewer();
    for (const auto& segment : state->shown.segments) {
        segment->release_files();
    }
}

void PartitionLog::expire_producers(TimestampMs now) {
    const MutexLock lock(core_.append_mutex);
    PartitionLogState* state = core_.state.load();
    // A staged batch may have to restore its producer, so its log is left to the next round.
    if (state == nullptr) {
        return;
    }
    state->assert_appender();
    if (state->staged.empty()) {
        state->producers.expire(now, core_.config_for_appender()->producer_id_expiration_ms);
    }
}

}  // namespace partita
