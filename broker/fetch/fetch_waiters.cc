#include "broker/fetch/fetch_waiters.h"

#include <algorithm>

#include "protocol/assert.h"

namespace partita::fetch {

WaiterId FetchWaiters::add(std::vector<WaitedPartition> partitions, std::int64_t missing_bytes,
                           Instant deadline) {
    PARTITA_ASSERT(missing_bytes > 0, "a fetch that misses nothing does not wait");
    const WaiterId waiter{++last_waiter_};
    // Sorted, because a consumer may wait for ten thousand partitions at once, and appends look theirs up.
    std::ranges::sort(partitions, {}, &WaitedPartition::partition);
    const auto repeated = std::ranges::unique(partitions, {}, &WaitedPartition::partition);
    partitions.erase(repeated.begin(), repeated.end());
    for (const WaitedPartition& waited : partitions) {
        by_partition_[waited.partition].push_back(waiter);
    }
    waiters_.emplace(waiter, Waiter{std::move(partitions), missing_bytes});
    deadlines_.push({deadline, waiter});
    return waiter;
}

void FetchWaiters::cancel(WaiterId waiter) {
    if (const auto found = waiters_.find(waiter); found != waiters_.end()) {
        remove(found);
    }
}

void FetchWaiters::on_append(PartitionKey partition, std::int64_t appended_bytes,
                             std::vector<WaiterId>& completed) {
    const auto found = by_partition_.find(partition);
    if (found == by_partition_.end()) {
        return;
    }
    const std::size_t first = completed.size();
    for (const WaiterId id : found->second) {
        Waiter& waiter = waiters_.at(id);
        const auto waited = std::ranges::lower_bound(waiter.partitions, partition, {}, &WaitedPartition::partition);
        const std::int64_t counted = std::min(appended_bytes, waited->countable_bytes);
        waited->countable_bytes -= counted;
        waiter.missing_bytes -= counted;
        if (waiter.missing_bytes <= 0) {
            completed.push_back(id);
        }
    }
    for (std::size_t i = first; i < completed.size(); ++i) {
        remove(waiters_.find(completed[i]));
    }
}

void FetchWaiters::on_change(PartitionKey partition, std::vector<WaiterId>& completed) {
    const auto found = by_partition_.find(partition);
    if (found == by_partition_.end()) {
        return;
    }
    const std::vector<WaiterId> affected = found->second;
    for (const WaiterId id : affected) {
        completed.push_back(id);
        remove(waiters_.find(id));
    }
}

void FetchWaiters::advance(Instant now, std::vector<WaiterId>& completed) {
    while (!deadlines_.empty() && deadlines_.top().at <= now) {
        const WaiterId id = deadlines_.top().waiter;
        deadlines_.pop();
        if (const auto found = waiters_.find(id); found != waiters_.end()) {
            completed.push_back(id);
            remove(found);
        }
    }
}

void FetchWaiters::complete_all(std::vector<WaiterId>& completed) {
    const std::size_t first = completed.size();
    for (const auto& [id, waiter] : waiters_) {
        completed.push_back(id);
    }
    std::sort(completed.begin() + static_cast<std::ptrdiff_t>(first), completed.end());
    waiters_.clear();
    by_partition_.clear();
    deadlines_ = {};
}

std::optional<Instant> FetchWaiters::next_deadline() {
    drop_dead_deadlines();
    if (deadlines_.empty()) {
        return std::nullopt;
    }
    return deadlines_.top().at;
}

void FetchWaiters::remove(std::unordered_map<WaiterId, Waiter>::iterator waiter) {
    for (const WaitedPartition& waited : waiter->second.partitions) {
        const auto found = by_partition_.find(waited.partition);
        std::erase(found->second, waiter->first);
        if (found->second.empty()) {
            by_partition_.erase(found);
        }
    }
    waiters_.erase(waiter);
    // Keeps the heap within a constant of the live waits however fast waits begin and end.
    if (deadlines_.size() > 64 + 2 * waiters_.size()) {
        std::vector<Deadline> alive;
        alive.reserve(waiters_.size());
        while (!deadlines_.empty()) {
            if (waiters_.contains(deadlines_.top().waiter)) {
                alive.push_back(deadlines_.top());
            }
            deadlines_.pop();
        }
        deadlines_ = std::priority_queue<Deadline>({}, std::move(alive));
    }
}

void FetchWaiters::drop_dead_deadlines() {
    while (!deadlines_.empty() && !waiters_.contains(deadlines_.top().waiter)) {
        deadlines_.pop();
    }
}

}  // namespace partita::fetch
