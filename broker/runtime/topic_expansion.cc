#include "broker/runtime/topic_expansion.h"

#include <algorithm>

#include "broker/config/log_setup.h"
#include "broker/runtime/broker.h"
#include "broker/runtime/drained_position.h"
#include "protocol/assert.h"

namespace partita::runtime {
namespace {

expansion::FenceSettings fence_settings(const TopicState& topic) {
    return {.timeout_ms = topic.config->expansion_fence_timeout_ms, .window_ms = topic.config->expansion_window_ms};
}

const PartitionLog& log_of(const TopicState& topic, PartitionIndex partition) {
    const Partition* state = topic.partition(partition.value);
    PARTITA_ASSERT(state != nullptr, "a fence knows only partitions that there are");
    return *state->log;
}

}  // namespace

void TopicExpansion::on_produce(const TopicState& topic, PartitionIndex partition,
                                const expansion::ClientIdentity& producer, Now now) {
    const std::scoped_lock lock(mutex_);
    producers_.note(producer) = now.monotonic;
    if (!fence_ || !fence_->is_open()) {
        return;
    }
    fence_->on_produce(producer, partition, now.wall);
    if (const auto parent = fence_->parent_of(partition)) {
        // The published end is at or below the offset that the batch will get, and both ends are read under the
        // lock, so marks grow in the order in which they are made.
        if (fence_->mark(partition, log_of(topic, partition).log_end_offset(), log_of(topic, *parent).log_end_offset())) {
            dirty_.store(true, std::memory_order_relaxed);
        }
    }
}

TopicExpansion::FetchVerdict TopicExpansion::on_fetch(const TopicState& topic, PartitionIndex partition,
                                                      const Reader& reader, Offset fetch_offset, Offset end, Now now) {
    const std::scoped_lock lock(mutex_);
    if (nudge_end_ && now.monotonic < *nudge_end_ && nudged_.size() < kNudgedMax && nudged_.insert(reader.client).second) {
        return {.error = ErrorCode::not_leader_or_follower};
    }
    if (!fence_) {
        return {};
    }
    if (const auto parent = fence_->parent_of(partition)) {
        broker_.groups().refresh_readers(readers_, topic.topic->name, topic.topic->id);
        const auto limit = fence_limit(topic, partition, *parent, reader, end, now);
        // A group that went back in the parent keeps what it was already given here.
        return {.limit = limit ? std::optional(std::max(*limit, fetch_offset)) : std::nullopt};
    }
    if (fence_->is_parent(partition)) {
        broker_.groups().refresh_readers(readers_, topic.topic->name, topic.topic->id);
        note_fetched(partition, reader.client, fetch_offset, now.monotonic);
    }
    return {};
}

std::vector<const groups::TopicReader*> TopicExpansion::groups_of(const expansion::ClientIdentity& client,
                                                                  PartitionIndex partition) const {
    std::vector<const groups::TopicReader*> found;
    for (const GroupShards::KnownReaders::Shard& shard : readers_.shards) {
        for (const groups::TopicReader& group : shard.readers) {
            const bool is_member = std::ranges::any_of(group.members, [&](const groups::TopicReader::Member& member) {
                return member.client_id == client.client_id && member.client_host == client.address &&
                       std::ranges::binary_search(member.assigned, partition);
            });
            if (is_member) {
                found.push_back(&group);
            }
        }
    }
    return found;
}

std::optional<Offset> TopicExpansion::fence_limit(const TopicState& topic, PartitionIndex partition,
                                                  PartitionIndex parent, const Reader& reader, Offset end, Now now) {
    const std::vector<const groups::TopicReader*> groups = groups_of(reader.client, partition);
    if (groups.empty() && !broker_.groups().is_complete()) {
        // Its group may be one that is not known again yet.
        return Offset{0};
    }
    if (groups.empty()) {
        fence_->note_unattributed(reader.client, partition);
        return std::nullopt;
    }
    const PartitionLog& parent_log = log_of(topic, parent);
    Offset limit = end;
    // A client that may be of several groups waits for the slowest of them.
    for (const groups::TopicReader* group : groups) {
        const auto committed = group->committed.find(parent);
        const Offset done = committed != group->committed.end() ? committed->second
                                                                : fence_->fetched(group->group_id, parent, now.monotonic).value_or(Offset{0});
        const Offset drained = first_deliverable(parent_log, done, reader.read_committed);
        const expansion::Fence::Verdict verdict =
            fence_->judge(group->group_id, partition, drained, end, fence_settings(topic), now.monotonic);
        limit = std::min(limit, verdict.limit);
        if (verdict.timed_out) {
            dirty_.store(true, std::memory_order_relaxed);
            log::warning("expansion", "a fence timed out: records may reach the group out of order",
                         {{"topic", topic.topic->name},
                          {"group", group->group_id},
                          {"partition", partition.value},
                          {"waited_for_partition", parent.value},
                          {"group_is_at", drained.value}});
        }
    }
    return limit < end ? std::optional(limit) : std::nullopt;
}

void TopicExpansion::note_fetched(PartitionIndex parent, const expansion::ClientIdentity& client, Offset fetch_offset,
                                  Instant now) {
    for (const groups::TopicReader* group : groups_of(client, parent)) {
        if (!group->committed.contains(parent)) {
            fence_->note_fetched(group->group_id, parent, fetch_offset, now);
        }
    }
}

TopicExpansion::ProducerActivity TopicExpansion::producer_activity(Instant now) const {
    const std::scoped_lock lock(mutex_);
    ProducerActivity activity{.silent_ms = {}, .known_for_ms = now - producers_known_since_};
    for (const auto& [client, last] : producers_.clients()) {
        activity.silent_ms.emplace_back(client, std::max<std::int64_t>(0, now - last));
    }
    return activity;
}

bool TopicExpansion::has_open_window() const {
    const std::scoped_lock lock(mutex_);
    return fence_ && fence_->is_open();
}

void TopicExpansion::open_fence(const TopicState& topic, std::int32_t epoch, std::int32_t old_count,
                                std::int32_t new_count, Now now) {
    const std::scoped_lock lock(mutex_);
    if (!fence_) {
        fence_.emplace();
    }
    std::vector<expansion::ClientIdentity> producers;
    for (const auto& [client, last] : producers_.clients()) {
        // Who was silent for longer has refreshed its metadata, or will before it writes again.
        if (now.monotonic - last <= topic.config->expansion_window_ms) {
            producers.push_back(client);
        }
    }
    // One that had to make room is not known.
    const std::int64_t known_for_ms = producers_.has_overflowed() ? 0 : now.monotonic - producers_known_since_;
    fence_->open(epoch, old_count, new_count, now.wall, producers, TimestampMs{now.wall.value - known_for_ms});
    dirty_.store(true, std::memory_order_relaxed);
}

void TopicExpansion::restore_fence(expansion::Fence fence) {
    const std::scoped_lock lock(mutex_);
    told_timeouts_ = fence.timeouts();
    fence_ = std::move(fence);
}

void TopicExpansion::cover_unknown_batches(const TopicState& topic) {
    const std::scoped_lock lock(mutex_);
    if (fence_) {
        fence_->cover_unknown([&](PartitionIndex partition, PartitionIndex parent) {
            return std::pair(log_of(topic, partition).log_start_offset(), log_of(topic, parent).log_end_offset());
        });
        dirty_.store(true, std::memory_order_relaxed);
    }
}

TopicExpansion::Upkeep TopicExpansion::upkeep(const TopicState& topic, Now now) {
    const std::scoped_lock lock(mutex_);
    Upkeep upkeep;
    if (!fence_) {
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
    upkeep.new_timeouts = fence_->timeouts() - told_timeouts_;
    told_timeouts_ = fence_->timeouts();
    if (fence_->is_over()) {
        fence_.reset();
        told_timeouts_ = 0;
        dirty_.store(false, std::memory_order_relaxed);
        upkeep.is_over = true;
        return upkeep;
    }
    if (dirty_.exchange(false, std::memory_order_relaxed)) {
        upkeep.store = fence_->encode();
    }
    return upkeep;
}

std::optional<std::string> TopicExpansion::encoded_fence() const {
    const std::scoped_lock lock(mutex_);
    return fence_ ? std::optional(fence_->encode()) : std::nullopt;
}

void TopicExpansion::nudge(Instant now) {
    const std::scoped_lock lock(mutex_);
    nudge_end_ = now + kNudgeMs;
    nudged_.clear();
}

std::size_t TopicExpansion::nudged() const {
    const std::scoped_lock lock(mutex_);
    return nudged_.size();
}

TopicExpansion::Status TopicExpansion::status() const {
    const std::scoped_lock lock(mutex_);
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
    }
    return status;
}

}  // namespace partita::runtime
