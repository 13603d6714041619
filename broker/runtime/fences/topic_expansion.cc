#include "broker/runtime/fences/topic_expansion.h"

#include <algorithm>
#include <map>

#include "broker/config/log_setup.h"
#include "broker/logs/drained_position.h"
#include "broker/logs/topic_table.h"
#include "broker/runtime/clients/connections.h"
#include "protocol/assert.h"

namespace partita::runtime {
namespace {

const PartitionLog& log_of(const logs::TopicState& topic, PartitionIndex partition) {
    const logs::Partition* state = topic.partition(partition.value);
    PARTITA_ASSERT(state != nullptr, "a fence knows only partitions that there are");
    return *state->log;
}

}  // namespace

insight::FenceSettings TopicExpansion::fence_settings(const logs::TopicState& topic) const {
    return {.timeout_ms = topic.config->expansion_fence_timeout_ms,
            .window_ms = topic.config->expansion_window_ms,
            .longest_transaction_ms = longest_transaction_ms_};
}

TopicExpansion::Wrote& TopicExpansion::note_producer(const logs::TopicState& topic, const insight::ProducerInstance& instance,
                                                     const Producer& producer, Instant now) {
    if (Wrote* known = producers_.find(instance); known == nullptr && producers_.is_full()) {
        // The producer that makes room wrote until then, and is forgotten now.
        producers_known_since_ = std::max(producers_known_since_, producers_.clients().front().second.last);
    }
    Wrote& wrote = producers_.note(instance);
    if (wrote.writer.connection != producer.connection) {
        wrote.writer = {.client = {std::string(producer.client_id), std::string(producer.address)},
                        .connection = producer.connection,
                        .process = std::nullopt};
        if (topic.config->expansion_mode == config::ExpansionMode::fenced) {
            connections_.want_process(producer.connection);
        }
    }
    wrote.last = now;
    return wrote;
}

void TopicExpansion::on_produce(const logs::TopicState& topic, PartitionIndex partition, const Producer& producer, Now now) {
    const MutexLock lock(mutex_);
    const auto instance = insight::ProducerInstance::of(producer.producer_id, producer.connection);
    const Wrote& wrote = note_producer(topic, instance, producer, now.monotonic);
    if (!fence_ || !fence_->is_open()) {
        return;
    }
    fence_->on_produce(instance, wrote.writer, partition, now.wall);
    if (const auto parent = fence_->parent_of(partition)) {
        // The published end is at or below the offset that the batch will get. Both ends are read under the lock, so marks grow
        // in the order in which they are made.
        if (fence_->mark(partition, log_of(topic, partition).log_end_offset(), log_of(topic, *parent).log_end_offset())) {
            dirty_.store(true, std::memory_order_relaxed);
        }
    }
}

void TopicExpansion::on_connection_closed(insight::ConnectionId connection) {
    const auto facts = connections_.find(connection);
    const auto process = facts ? facts->process : std::nullopt;
    const MutexLock lock(mutex_);
    readers_.on_closed(connection);
    nudged_.erase(connection);
    for (auto& [instance, wrote] : producers_.clients()) {
        if (wrote.writer.connection == connection) {
            wrote.writer.connection = insight::kNoConnection;
            wrote.writer.process = process;
        }
    }
    if (fence_) {
        fence_->producers().on_closed(connection, process);
    }
}

TopicExpansion::FetchVerdict TopicExpansion::on_fetch(const logs::TopicState& topic, PartitionIndex partition,
                                                      const Reader& reader, Offset fetch_offset, Offset end, Now now) {
    const MutexLock lock(mutex_);
    if (nudge_end_ && now.monotonic < *nudge_end_ && nudged_.size() < kNudgedMax && nudged_.insert(reader.connection).second) {
        return {.error = ErrorCode::not_leader_or_follower};
    }
    if (!fence_) {
        return {};
    }
    if (const auto parent = fence_->parent_of(partition)) {
        FetchVerdict verdict = fence_limit(topic, partition, *parent, reader, fetch_offset, end, now);
        if (verdict.limit) {
            // A group that went back in the parent keeps what it was already given here.
            verdict.limit = std::max(*verdict.limit, fetch_offset);
        }
        return verdict;
    }
    if (fence_->is_parent(partition)) {
        note_fetched(topic, partition, reader, fetch_offset, now.monotonic);
    }
    return {};
}

FenceReaders::Judgement TopicExpansion::judge_reader(const logs::TopicState& topic, PartitionIndex partition,
                                                     const Reader& reader, Instant now) {
    return readers_.judge(topic.topic->name, topic.topic->id, partition, reader.client_id, reader.address, reader.connection,
                          now);
}

namespace {

/// True if the group has committed in the topic itself: seeds are the broker's. Such a group shows its progress by commits. It
/// may not have come to a partition yet, though it fetches it: librdkafka hands out one partition after the other.
bool commits_on(const groups::TopicReader& group) { return group.committed.size() > group.seeds.size(); }

}  // namespace

insight::Fence::Progress TopicExpansion::progress_of(const groups::TopicReader& group, PartitionIndex parent,
                                                     const PartitionLog& parent_log, bool read_committed, Instant now) const {
    const auto committed = group.committed.find(parent);
    Offset done{0};
    if (committed != group.committed.end()) {
        done = committed->second;
    } else if (!commits_on(group)) {
        done = fence_->fetched(group.group_id, parent, now).value_or(Offset{0});
    }
    const Offset end = parent_log.high_watermark();
    const Offset drained = logs::first_deliverable(parent_log, done, read_committed);
    // Read this last: records that are stable by now can be delivered. Records that were there before and are not stable belong
    // to an open transaction.
    const Offset stable_end = parent_log.last_stable_offset();
    return {.drained = drained,
            .read_committed = read_committed,
            .waits_for_transaction = read_committed && drained >= stable_end && stable_end < end};
}

TopicExpansion::FetchVerdict TopicExpansion::fence_limit(const logs::TopicState& topic, PartitionIndex partition,
                                                         PartitionIndex parent, const Reader& reader, Offset fetch_offset,
                                                         Offset end, Now now) {
    const FenceReaders::Judgement judgement = judge_reader(topic, partition, reader, now.monotonic);
    const std::vector<const groups::TopicReader*>& groups = judgement.groups;
    if (groups.empty() && !groups_.is_complete()) {
        // Its group may be one that is still being rebuilt.
        return {.limit = Offset{0}, .shows_end = true};
    }
    if (groups.empty()) {
        fence_->note_unattributed(
            {{std::string(reader.client_id), std::string(reader.address)}, readers_.program_of(reader.connection), partition});
        readers_.note_served(reader.connection, partition);
        return {};
    }
    const PartitionLog& parent_log = log_of(topic, parent);
    Offset limit = end;
    // A client that may belong to several groups waits for the slowest of them.
    for (const groups::TopicReader* group : groups) {
        const insight::Fence::Progress progress = progress_of(*group, parent, parent_log, reader.read_committed, now.monotonic);
        const insight::Fence::Verdict verdict =
            fence_->judge(group->group_id, partition, progress, end, fence_settings(topic), now.monotonic);
        limit = std::min(limit, verdict.limit);
        if (verdict.timed_out) {
            dirty_.store(true, std::memory_order_relaxed);
            log::warning("expansion", "a fence timed out: records may reach the group out of order",
                         {{"topic", topic.topic->name},
                          {"group", group->group_id},
                          {"partition", partition.value},
                          {"waited_for_partition", parent.value},
                          {"group_is_at", progress.drained.value}});
        }
    }
    if (limit == end) {
        readers_.note_served(reader.connection, partition);
        return {};
    }
    // A reader that has read everything is not held.
    if (fetch_offset < end) {
        readers_.note_held(reader.connection, partition, judgement, now.monotonic);
    }
    return {.limit = limit,
            .is_undecided = judgement.is_undecided,
            .shows_end = judgement.is_undecided || judgement.kind != insight::Attribution::Kind::member};
}

void TopicExpansion::note_fetched(const logs::TopicState& topic, PartitionIndex parent, const Reader& reader, Offset fetch_offset,
                                  Instant now) {
    for (const groups::TopicReader* group : judge_reader(topic, parent, reader, now).groups) {
        if (!commits_on(*group)) {
            fence_->note_fetched(group->group_id, parent, fetch_offset, now);
        }
    }
}

TopicExpansion::ProducerActivity TopicExpansion::producer_activity(Instant now) const {
    const MutexLock lock(mutex_);
    ProducerActivity activity{.silent_ms = {}, .known_for_ms = now - producers_known_since_};
    // If clients share an identity, the most recent write counts.
    std::map<insight::ClientIdentity, Instant> last;
    for (const auto& [instance, wrote] : producers_.clients()) {
        Instant& latest = last.try_emplace(wrote.writer.client, wrote.last).first->second;
        latest = std::max(latest, wrote.last);
    }
    for (const auto& [client, at] : last) {
        activity.silent_ms.emplace_back(client, std::max<std::int64_t>(0, now - at));
    }
    return activity;
}

bool TopicExpansion::has_open_window() const {
    const MutexLock lock(mutex_);
    return fence_ && fence_->is_open();
}

void TopicExpansion::open_fence(const logs::TopicState& topic, std::int32_t epoch, std::int32_t old_count, std::int32_t new_count,
                                Now now) {
    const MutexLock lock(mutex_);
    if (!fence_) {
        fence_.emplace();
    }
    std::vector<insight::ProducerWindow::Unproven> producers;
    for (const auto& [instance, wrote] : producers_.clients()) {
        // A producer that was silent for longer has refreshed its metadata, or will before its next write.
        if (now.monotonic - wrote.last <= topic.config->expansion_window_ms) {
            producers.push_back({instance, wrote.writer});
            connections_.want_process(wrote.writer.connection);
        }
    }
    const std::int64_t known_for_ms = now.monotonic - producers_known_since_;
    fence_->open(epoch, old_count, new_count, now.wall, std::move(producers), TimestampMs{now.wall.value - known_for_ms});
    dirty_.store(true, std::memory_order_relaxed);
}

void TopicExpansion::restore_fence(insight::Fence fence) {
    const MutexLock lock(mutex_);
    told_timeouts_ = fence.timeouts();
    fence_ = std::move(fence);
}

void TopicExpansion::cover_unknown_batches(const logs::TopicState& topic) {
    const MutexLock lock(mutex_);
    if (fence_) {
        fence_->cover_unknown([&](PartitionIndex partition, PartitionIndex parent) {
            const PartitionLog& log = log_of(topic, partition);
            return insight::FenceMarks::Found{.start = log.log_start_offset(),
                                              .end = log.log_end_offset(),
                                              .parent_end = log_of(topic, parent).log_end_offset()};
        });
        dirty_.store(true, std::memory_order_relaxed);
    }
}

void TopicExpansion::exclude_ended_producers() {
    std::vector<insight::ProcessIdentity> left;
    {
        const MutexLock lock(mutex_);
        if (fence_ && fence_->is_open()) {
            left = fence_->producers().left_processes(kLeftProcessesMax);
        }
    }
    std::erase_if(left, [](const insight::ProcessIdentity& process) { return !ProcessFinder::has_ended(process); });
    const MutexLock lock(mutex_);
    for (const insight::ProcessIdentity& process : left) {
        if (fence_ && fence_->is_open()) {
            fence_->producers().on_ended(process);
        }
    }
}

TopicExpansion::Upkeep TopicExpansion::upkeep(const logs::TopicState& topic, Now now) {
    exclude_ended_producers();
    const MutexLock lock(mutex_);
    Upkeep upkeep;
    // The fence opens a moment before the topic's new partitions are published.
    if (!fence_ || fence_->partition_count() > topic.topic->partition_count) {
        return upkeep;
    }
    if (const auto closed = fence_->due_to_close(fence_settings(topic), now.wall)) {
        fence_->close(*closed, [&](PartitionIndex partition, PartitionIndex parent) {
            return std::pair(log_of(topic, partition).log_end_offset(), log_of(topic, parent).log_end_offset());
        });
        upkeep.closed = *closed;
        dirty_.store(true, std::memory_order_relaxed);
    }
    if (!fence_->is_open()) {
        fence_->forget([&](PartitionIndex partition, PartitionIndex parent) {
            return std::pair(log_of(topic, partition).log_start_offset(), log_of(topic, parent).log_start_offset());
        });
    }
    upkeep.findings = readers_.findings(topic.topic->name, now.monotonic);
    upkeep.new_timeouts = fence_->timeouts() - told_timeouts_;
    told_timeouts_ = fence_->timeouts();
    if (fence_->is_over()) {
        fence_.reset();
        told_timeouts_ = 0;
        dirty_.store(false, std::memory_order_relaxed);
        upkeep.is_over = true;
        upkeep.findings.clear();
        return upkeep;
    }
    if (dirty_.exchange(false, std::memory_order_relaxed)) {
        upkeep.store = fence_->encode();
    }
    return upkeep;
}

std::optional<std::string> TopicExpansion::encoded_fence() const {
    const MutexLock lock(mutex_);
    return fence_ ? std::optional(fence_->encode()) : std::nullopt;
}

void TopicExpansion::nudge(Instant now) {
    const MutexLock lock(mutex_);
    nudge_end_ = now + kNudgeMs;
    nudged_.clear();
}

TopicExpansion::Status TopicExpansion::status() const {
    const MutexLock lock(mutex_);
    Status status;
    status.has_fence = fence_.has_value();
    if (fence_) {
        status.window = fence_->window_state();
        status.window_epoch = fence_->window_epoch();
        status.window_opened = fence_->window_opened();
        status.timeouts = fence_->timeouts();
        status.held_fetches = fence_->held_fetches();
        status.waiting = fence_->waiting();
        status.released = fence_->released_groups();
        status.unattributed.assign(fence_->unattributed().begin(), fence_->unattributed().end());
        status.unproven = fence_->producers().unproven(kUnprovenShown);
        status.unproven_count = fence_->producers().unproven_count();
        for (insight::ProducerWindow::Unproven& unproven : status.unproven) {
            if (const auto facts = connections_.find(unproven.writer.connection)) {
                unproven.writer.process = facts->process;
            }
        }
    }
    return status;
}

}  // namespace partita::runtime
