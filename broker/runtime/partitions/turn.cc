#include "broker/runtime/partitions/turn.h"

#include <algorithm>
#include <bit>

#include "broker/assembly/broker.h"
#include "protocol/assert.h"

namespace partita::runtime {

Turn::Turn(Broker& broker, Reactor& reactor) : broker_(broker), reactor_(reactor) {}

const TopicTable& Turn::topics() { return *shared_topics(); }

const std::shared_ptr<const TopicTable>& Turn::shared_topics() {
    const std::uint64_t version = broker_.topic_table_version();
    if (version != table_version_ || !table_) {
        if (table_) {
            retained_tables_.push_back(std::move(table_));
        }
        table_ = broker_.topic_table();
        table_version_ = version;
    }
    return table_;
}

StagedRequest& Turn::begin_staged_request() {
    if (staged_count_ == staged_.size()) {
        staged_.push_back(std::make_unique<StagedRequest>());
    }
    StagedRequest& request = *staged_[staged_count_++];
    request.partitions.clear();
    return request;
}

void Turn::mark_dirty(Partition& partition) {
    // Requests of a turn mostly go to the same few partitions. One that is noted twice is flushed a second time, with
    // nothing to write; looking through all of a request with thousands would cost more.
    constexpr std::size_t kLookedAt = 16;
    const auto recent = dirty_.end() - static_cast<std::ptrdiff_t>(std::min(dirty_.size(), kLookedAt));
    if (std::find(recent, dirty_.end(), &partition) == dirty_.end()) {
        dirty_.push_back(&partition);
    }
}

void Turn::appended(Partition& partition, std::size_t size_bytes) {
    // Pairs with park_fetch: the log end is published, so a waiter that this load does not see will
    // see the new end.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    std::uint64_t waiting = partition.waiting_reactors.load(std::memory_order_seq_cst);
    while (waiting != 0) {
        const auto index = static_cast<std::uint32_t>(std::countr_zero(waiting));
        waiting &= waiting - 1;
        if (index == reactor_.index()) {
            waiters_.on_append(partition.key, static_cast<std::int64_t>(size_bytes), completed_);
            continue;
        }
        broker_.post_append(index, partition.key, size_bytes);
    }
}

void Turn::on_foreign_append(fetch::PartitionKey partition, std::size_t size_bytes) {
    waiters_.on_append(partition, static_cast<std::int64_t>(size_bytes), completed_);
}

void Turn::on_change(fetch::PartitionKey partition) { waiters_.on_change(partition, completed_); }

fetch::WaiterId Turn::park_fetch(std::unique_ptr<WaitingFetch> fetch, std::span<const WaitFor> partitions,
                                 std::int64_t missing_bytes, Instant deadline) {
    const std::uint64_t bit = std::uint64_t{1} << reactor_.index();
    std::vector<fetch::FetchWaiters::WaitedPartition> waited;
    std::vector<std::shared_ptr<Partition>> kept;
    waited.reserve(partitions.size());
    kept.reserve(partitions.size());
    for (const WaitFor& wait : partitions) {
        wait.partition->waiting_reactors.fetch_or(bit, std::memory_order_seq_cst);
        waited.push_back({wait.partition->key, wait.countable_bytes});
        kept.push_back(wait.partition);
    }
    const fetch::WaiterId id = waiters_.add(std::move(waited), missing_bytes, deadline);
    fetches_.emplace(id, Waited{std::move(fetch), std::move(kept)});

    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (const WaitFor& wait : partitions) {
        if (wait.partition->log->high_watermark() != wait.seen_end) {
            // Somebody appended between our read and our bit: let the fetch look again.
            waiters_.on_change(wait.partition->key, completed_);
        }
    }
    return id;
}

void Turn::cancel_fetch(fetch::WaiterId waiter) {
    waiters_.cancel(waiter);
    if (const auto found = fetches_.find(waiter); found != fetches_.end()) {
        forget_interest(found->second);
        fetches_.erase(found);
    }
}

void Turn::complete_all_fetches() { waiters_.complete_all(completed_); }

void Turn::end_turn(Now now) {
    flush_appends();
    waiters_.advance(now.monotonic, completed_);
    complete_fetches();
    PARTITA_ASSERT(staged_count_ == 0, "answering a fetch stages nothing");
    arena_.reset();
    retained_tables_.clear();
}

void Turn::flush_appends() {
    for (Partition* partition : dirty_) {
        partition->log->flush_staged();
    }
    dirty_.clear();
    for (std::size_t i = 0; i < staged_count_; ++i) {
        StagedRequest& request = *staged_[i];
        for (StagedPartition& staged : request.partitions) {
            if (!staged.append.duplicate && staged.append.result()) {
                appended(*staged.partition, staged.size_bytes);
            }
        }
        request.finish(request, *this);
        request.partitions.clear();
    }
    staged_count_ = 0;
}

void Turn::complete_fetches() {
    // Completing reads and replies; it neither parks nor appends, so the list does not grow here.
    for (const fetch::WaiterId id : completed_) {
        const auto found = fetches_.find(id);
        if (found == fetches_.end()) {
            continue;  // Cancelled after it was completed.
        }
        Waited waited = std::move(found->second);
        fetches_.erase(found);
        forget_interest(waited);
        waited.fetch->complete(*this);
    }
    completed_.clear();
}

void Turn::forget_interest(const Waited& waited) {
    const std::uint64_t bit = std::uint64_t{1} << reactor_.index();
    for (const std::shared_ptr<Partition>& partition : waited.partitions) {
        if (!waiters_.waits_for(partition->key)) {
            partition->waiting_reactors.fetch_and(~bit, std::memory_order_seq_cst);
        }
    }
}

}  // namespace partita::runtime
