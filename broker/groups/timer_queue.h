#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/assert.h"
#include "protocol/types.h"

namespace partita::groups {

struct Group;
class TimerQueue;

/// A deadline that is part of its owner. Destroying the owner cancels it. Each kind of groups derives its own timer, which
/// records its purpose.
class Timer {
  public:
    /// `timer_group`: null for a timer of the coordinator itself.
    explicit Timer(Group* timer_group = nullptr) : group(timer_group) {}
    ~Timer() { cancel(); }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    void cancel();
    [[nodiscard]] bool is_scheduled() const { return queue_ != nullptr; }

    Group* const group;

  private:
    friend class TimerQueue;

    TimerQueue* queue_ = nullptr;
    std::size_t index_ = 0;
    Instant deadline_;
    std::uint64_t order_ = 0;
};

/// Scheduled timers, the earliest first; equal deadlines in the order of scheduling. A binary heap in which each timer knows its
/// position. Scheduling, rescheduling and cancelling are O(log n) and allocate nothing, because heartbeats of many thousand
/// members reschedule all the time. Must outlive its timers.
class TimerQueue {
  public:
    TimerQueue() = default;
    TimerQueue(const TimerQueue&) = delete;
    TimerQueue& operator=(const TimerQueue&) = delete;

    /// (Re)schedules `timer`.
    void schedule(Timer& timer, Instant deadline) {
        PARTITA_ASSERT(timer.queue_ == nullptr || timer.queue_ == this, "a timer is in one queue");
        timer.deadline_ = deadline;
        timer.order_ = next_order_++;
        if (timer.queue_ == nullptr) {
            timer.queue_ = this;
            timer.index_ = heap_.size();
            heap_.push_back(&timer);
        }
        sift_up(timer.index_);
        sift_down(timer.index_);
    }

    void cancel(Timer& timer) {
        PARTITA_ASSERT(timer.queue_ == this, "a timer is cancelled in the queue that holds it");
        const std::size_t hole = timer.index_;
        PARTITA_ASSERT(hole < heap_.size() && heap_[hole] == &timer, "a timer knows its place");
        Timer* last = heap_.back();
        heap_.pop_back();
        timer.queue_ = nullptr;
        if (last != &timer) {
            place(hole, last);
            sift_up(hole);
            sift_down(last->index_);
        }
    }

    [[nodiscard]] std::optional<Instant> next_deadline() const {
        if (heap_.empty()) {
            return std::nullopt;
        }
        return heap_.front()->deadline_;
    }

    /// Removes and returns the earliest due timer, or null.
    [[nodiscard]] Timer* pop_due(Instant now) {
        if (heap_.empty() || heap_.front()->deadline_ > now) {
            return nullptr;
        }
        Timer* timer = heap_.front();
        cancel(*timer);
        return timer;
    }

    [[nodiscard]] std::size_t size() const { return heap_.size(); }

  private:
    static bool before(const Timer* left, const Timer* right) {
        return left->deadline_ != right->deadline_ ? left->deadline_ < right->deadline_ : left->order_ < right->order_;
    }

    void place(std::size_t index, Timer* timer) {
        heap_[index] = timer;
        timer->index_ = index;
    }

    void sift_up(std::size_t index) {
        Timer* timer = heap_[index];
        while (index > 0 && before(timer, heap_[(index - 1) / 2])) {
            place(index, heap_[(index - 1) / 2]);
            index = (index - 1) / 2;
        }
        place(index, timer);
    }

    void sift_down(std::size_t index) {
        Timer* timer = heap_[index];
        while (true) {
            std::size_t child = 2 * index + 1;
            if (child >= heap_.size()) {
                break;
            }
            if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) {
                ++child;
            }
            if (!before(heap_[child], timer)) {
                break;
            }
            place(index, heap_[child]);
            index = child;
        }
        place(index, timer);
    }

    std::vector<Timer*> heap_;
    std::uint64_t next_order_ = 0;
};

inline void Timer::cancel() {
    if (queue_ != nullptr) {
        queue_->cancel(*this);
    }
}

}  // namespace partita::groups
