#include "broker/fetch/fetch_waiters.h"

#include <algorithm>

#include "protocol/assert.h"

namespace partita::fetch {

WaiterId FetchWaiters::add(Wait wait) {
    const WaiterId waiter{++last_waiter_};
    resume(waiter, std::move(wait));
    return waiter;
}

void FetchWaiters::resume(WaiterId waiter, Wait wait) {
    PARTITA_ASSERT(wait.missing_bytes > 0, "a fetch that misses nothing does not wait");
    PARTITA_ASSERT(!waiters_.contains(waiter), "a wait goes on after it came out");
    // Sorted, because a consumer may wait for ten thousand partitions at once, and appends look theirs up.
    std::ranges::sort(wait.partitions, {}, &WaitedPartition::partition);
    const auto repeated = std::ranges::unique(wait.partitions, {}, &WaitedPartition::partition);
    wait.partitions.erase(repeated.begin(), repeated.end());
    for (const WaitedPartition& waited : wait.partitions) {
        by_partition_[waited.partition].push_back(waiter);
    }
    deadlines_.push({wait.deadline, waiter, ++last_turn_});
    waiters_.emplace(waiter, Waiter{std::move(wait.partitions), wait.missing_bytes, wait.isolation, last_turn_});
}

void FetchWaiters::cancel(WaiterId waiter) {
    if (const auto found = waiters_.find(waiter); found != waiters_.end()) {
        remove(found);
    }
}

void FetchWaiters::on_append(PartitionKey partition, const Growth& growth, std::vector<Woken>& woken) {
    const auto found = by_partition_.find(partition);
    if (found == by_partition_.end()) {
        return;
    }
    const std::size_t first = woken.size();
    for (const WaiterId id : found->second) {
        Waiter& waiter = waiters_.at(id);
        const auto waited = std::ranges::lower_bound(waiter.partitions, partition, {}, &WaitedPartition::partition);
        if (waiter.isolation == Isolation::read_committed && !(waited->is_stable && growth.is_stable)) {
            // Bytes that a transaction hid cannot be counted: once some of them show, only a read can tell how many.
            const bool shows_more = growth.is_stable || growth.stable_end > waited->stable_end;
            waited->is_stable = growth.is_stable;
            waited->stable_end = std::max(waited->stable_end, growth.stable_end);
            if (shows_more) {
                woken.push_back({id, Reason::look});
            }
            continue;
        }
        const std::int64_t counted = std::min(growth.bytes, waited->countable_bytes);
        waited->countable_bytes -= counted;
        waited->stable_end = std::max(waited->stable_end, growth.stable_end);
        waiter.missing_bytes -= counted;
        if (waiter.missing_bytes <= 0) {
            woken.push_back({id, Reason::enough});
        }
    }
    for (std::size_t i = first; i < woken.size(); ++i) {
        remove(waiters_.find(woken[i].waiter));
    }
}

void FetchWaiters::on_change(PartitionKey partition, std::vector<Woken>& woken) {
    const auto found = by_partition_.find(partition);
    if (found == by_partition_.end()) {
        return;
    }
    const std::vector<WaiterId> affected = found->second;
    for (const WaiterId id : affected) {
        woken.push_back({id, Reason::look});
        remove(waiters_.find(id));
    }
}

void FetchWaiters::advance(Instant now, std::vector<Woken>& woken) {
    while (!deadlines_.empty() && deadlines_.top().at <= now) {
        const Deadline deadline = deadlines_.top();
        deadlines_.pop();
        if (is_alive(deadline)) {
            woken.push_back({deadline.waiter, Reason::over});
            remove(waiters_.find(deadline.waiter));
        }
    }
}

void FetchWaiters::complete_all(std::vector<Woken>& woken) {
    const std::size_t first = woken.size();
    for (const auto& [id, waiter] : waiters_) {
        woken.push_back({id, Reason::over});
    }
    std::ranges::sort(woken.begin() + static_cast<std::ptrdiff_t>(first), woken.end(), {}, &Woken::waiter);
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
    // This keeps the heap within a constant of the live waits, however fast waits begin and end.
    if (deadlines_.size() > 64 + 2 * waiters_.size()) {
        std::vector<Deadline> alive;
        alive.reserve(waiters_.size());
        while (!deadlines_.empty()) {
            if (is_alive(deadlines_.top())) {
                alive.push_back(deadlines_.top());
            }
            deadlines_.pop();
        }
        deadlines_ = std::priority_queue<Deadline>({}, std::move(alive));
    }
}

bool FetchWaiters::is_alive(const Deadline& deadline) const {
    const auto found = waiters_.find(deadline.waiter);
    return found != waiters_.end() && found->second.turn == deadline.turn;
}

void FetchWaiters::drop_dead_deadlines() {
    while (!deadlines_.empty() && !is_alive(deadlines_.top())) {
        deadlines_.pop();
    }
}

}  // namespace partita::fetch
