#include "broker/logs/turn.h"

#include <algorithm>
#include <bit>

#include "broker/logs/appender.h"
#include "broker/logs/published_topics.h"
#include "broker/logs/turns.h"
#include "protocol/assert.h"

namespace partita::logs {

Turn::Turn(Turns& turns, const PublishedTopics& topics, runtime::Reactor& reactor)
    : turns_(turns), published_(topics), reactor_(reactor) {}

const TopicTable& Turn::topics() {
    const std::uint64_t version = published_.version();
    if (version != table_version_ || !table_) {
        if (table_) {
            retained_tables_.push_back(std::move(table_));
        }
        table_ = published_.table();
        table_version_ = version;
    }
    return *table_;
}

std::shared_ptr<const TopicTable> Turn::keep(const TopicTable& table) const {
    if (table_.get() == &table) {
        return table_;
    }
    const auto retained = std::ranges::find(retained_tables_, &table, [](const auto& kept) { return kept.get(); });
    PARTITA_ASSERT(retained != retained_tables_.end(), "the table was found in this turn");
    return *retained;
}

AppendRequest& Turn::append_request() {
    if (staged_count_ == staged_.size()) {
        staged_.push_back(std::make_unique<AppendRequest>());
    }
    AppendRequest& request = *staged_[staged_count_];
    request.clear();
    return request;
}

void Turn::write_at_end(AppendRequest& request) {
    PARTITA_ASSERT(&request == staged_[staged_count_].get(), "requests are staged one after the other");
    ++staged_count_;
}

void Turn::mark_dirty(Partition& partition) {
    // The requests of a turn mostly go to the same few partitions. A partition that is noted twice is flushed a second time, with
    // nothing to write. Searching all entries of a request with thousands would cost more.
    constexpr std::size_t kLookedAt = 16;
    const auto recent = dirty_.end() - static_cast<std::ptrdiff_t>(std::min(dirty_.size(), kLookedAt));
    if (std::find(recent, dirty_.end(), &partition) == dirty_.end()) {
        dirty_.push_back(&partition);
    }
}

void Turn::appended(Partition& partition, std::size_t size_bytes) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    notify_waiting_fetches(partition, size_bytes);
}

void Turn::notify_waiting_fetches(Partition& partition, std::size_t size_bytes) {
    // Pairs with park_fetch: the log end is published, so a waiter that this load misses will see the new end.
    std::uint64_t waiting = partition.waiting_reactors.load(std::memory_order_seq_cst);
    if (waiting == 0) {
        return;
    }
    const Offset stable_end = partition.log->last_stable_offset();
    const fetch::FetchWaiters::Growth growth{.bytes = static_cast<std::int64_t>(size_bytes),
                                             .stable_end = stable_end,
                                             .is_stable = stable_end >= partition.log->high_watermark()};
    while (waiting != 0) {
        const auto index = static_cast<std::uint32_t>(std::countr_zero(waiting));
        waiting &= waiting - 1;
        if (index == reactor_.index()) {
            waiters_.on_append(partition.key, growth, woken_);
            continue;
        }
        turns_.post_append(index, partition.key, growth);
    }
}

void Turn::on_foreign_append(fetch::PartitionKey partition, const fetch::FetchWaiters::Growth& growth) {
    waiters_.on_append(partition, growth, woken_);
}

void Turn::on_change(fetch::PartitionKey partition) { waiters_.on_change(partition, woken_); }

fetch::WaiterId Turn::park_fetch(std::unique_ptr<WaitingFetch> fetch, const FetchWait& wait) {
    show_interest(wait);
    const fetch::WaiterId id = waiters_.add(counted(wait));
    std::vector<std::shared_ptr<Partition>> kept;
    kept.reserve(wait.partitions.size());
    for (const WaitFor& each : wait.partitions) {
        kept.push_back(each.partition);
    }
    fetches_.emplace(id, Waited{.fetch = std::move(fetch), .partitions = std::move(kept)});
    look_once_more(wait);
    return id;
}

void Turn::show_interest(const FetchWait& wait) {
    const std::uint64_t bit = std::uint64_t{1} << reactor_.index();
    for (const WaitFor& each : wait.partitions) {
        each.partition->waiting_reactors.fetch_or(bit, std::memory_order_seq_cst);
    }
}

fetch::FetchWaiters::Wait Turn::counted(const FetchWait& wait) {
    fetch::FetchWaiters::Wait result{
        .partitions = {}, .missing_bytes = wait.missing_bytes, .deadline = wait.deadline, .isolation = wait.isolation};
    result.partitions.reserve(wait.partitions.size());
    for (const WaitFor& each : wait.partitions) {
        result.partitions.push_back({.partition = each.partition->key,
                                     .countable_bytes = each.countable_bytes,
                                     .stable_end = each.stable_end,
                                     .is_stable = each.stable_end >= each.seen_end});
    }
    return result;
}

void Turn::look_once_more(const FetchWait& wait) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (const WaitFor& each : wait.partitions) {
        // The end of a transaction is published in two steps: a fetch that saw the new log end may have seen the old stable
        // offset.
        const bool has_moved = each.partition->log->high_watermark() != each.seen_end;
        const bool shows_more =
            each.watched_stable_end != kNoOffset && each.partition->log->last_stable_offset() != each.watched_stable_end;
        if (has_moved || shows_more) {
            waiters_.on_change(each.partition->key, woken_);
        }
    }
}

void Turn::cancel_fetch(fetch::WaiterId waiter) {
    waiters_.cancel(waiter);
    if (const auto found = fetches_.find(waiter); found != fetches_.end()) {
        forget_interest(found->second);
        fetches_.erase(found);
    }
}

void Turn::complete_all_fetches() {
    answers_all_ = true;
    waiters_.complete_all(woken_);
}

void Turn::end_turn(Now /*now*/) {
    flush_appends();
    waiters_.advance(machine_now(), woken_);
    complete_fetches();
    PARTITA_ASSERT(staged_count_ == 0, "answering a fetch stages nothing");
    arena_.reset();
    retained_tables_.clear();
}

void Turn::flush_appends() {
    const WriteBreadth breadth = breadth_of(dirty_.size());
    for (Partition* partition : dirty_) {
        partition->log->flush_staged(breadth);
    }
    dirty_.clear();
    // One fence serves all of them, before any check for waiters.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (std::size_t i = 0; i < staged_count_; ++i) {
        AppendRequest& request = *staged_[i];
        for (const Append& append : request.appends) {
            if (append.is_staged && !append.staged.duplicate && append.staged.result()) {
                notify_waiting_fetches(*append.partition, append.batch.size());
            }
        }
        request.appender->conclude(request, *this);
        request.clear();
    }
    staged_count_ = 0;
}

void Turn::complete_fetches() {
    // A fetch that looks and waits again may have missed an append meanwhile. It looks again at the end of the next turn, so that
    // steady appends cannot keep this turn from ending.
    waking_.swap(woken_);
    for (const fetch::FetchWaiters::Woken& woken : waking_) {
        wake(woken);
    }
    waking_.clear();
}

void Turn::wake(const fetch::FetchWaiters::Woken& woken) {
    const auto found = fetches_.find(woken.waiter);
    if (found == fetches_.end()) {
        return;  // The fetch was cancelled after it was woken.
    }
    if (woken.reason == fetch::FetchWaiters::Reason::look && !answers_all_) {
        if (const std::optional<FetchWait> wait = found->second.fetch->look(*this)) {
            // The fetch waits for the same partitions as before, so its kept partitions stay valid.
            show_interest(*wait);
            waiters_.resume(woken.waiter, counted(*wait));
            look_once_more(*wait);
            return;
        }
    } else {
        found->second.fetch->complete(*this);
    }
    const Waited answered = std::move(found->second);
    fetches_.erase(found);
    forget_interest(answered);
}

void Turn::forget_interest(const Waited& waited) {
    const std::uint64_t bit = std::uint64_t{1} << reactor_.index();
    for (const std::shared_ptr<Partition>& partition : waited.partitions) {
        if (!waiters_.waits_for(partition->key)) {
            partition->waiting_reactors.fetch_and(~bit, std::memory_order_seq_cst);
        }
    }
}

}  // namespace partita::logs
