#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "schedule/executor.h"

namespace partita::test {

/// A clock that stands still until the simulation moves it. It does not measure processor time: nothing ever uses up its share.
class VirtualClock final : public Clock {
  public:
    Now now() override { return {monotonic_, {kBeginWallMs + monotonic_.value}}; }
    std::int64_t stopwatch_ns() override { return monotonic_.value * 1'000'000; }
    std::int64_t thread_processor_ns() override { return 0; }
    std::int64_t process_processor_ns() override { return 0; }

    void advance_to(Instant then) { monotonic_ = std::max(monotonic_, then); }
    void advance_by(std::int64_t duration_ms) { monotonic_ = monotonic_ + duration_ms; }

  private:
    static constexpr std::int64_t kBeginWallMs = 1'700'000'000'000;
    Instant monotonic_{1'000'000};
};

/// Runs no step by itself: the simulation asks which steps are possible, and chooses.
class SteppedExecutor final : public Executor {
  public:
    struct Task {
        std::string name;
        Step step;
        bool is_woken = true;
        bool is_over = false;
        Instant due = kNever;
    };

    std::unique_ptr<Worker> start(std::string_view name, Step step) override {
        tasks_.push_back(std::make_shared<Task>(Task{std::string(name), std::move(step)}));
        return std::make_unique<Handle>(*this, tasks_.back());
    }

    [[nodiscard]] std::vector<std::shared_ptr<Task>> ready(Instant now) const {
        std::vector<std::shared_ptr<Task>> found;
        for (const auto& task : tasks_) {
            if (task->is_woken || task->due <= now) {
                found.push_back(task);
            }
        }
        return found;
    }
    [[nodiscard]] Instant next_due() const {
        Instant next = kNever;
        for (const auto& task : tasks_) {
            next = std::min(next, task->due);
        }
        return next;
    }
    static void step(Task& task) {
        task.is_woken = false;
        task.due = task.step();
        task.is_over = task.due == kOver;
        if (task.is_over) {
            task.due = kNever;
        }
    }

  private:
    class Handle final : public Worker {
      public:
        Handle(SteppedExecutor& executor, std::shared_ptr<Task> task) : executor_(executor), task_(std::move(task)) {}
        ~Handle() override { std::erase(executor_.tasks_, task_); }
        void wake() override { task_->is_woken = !task_->is_over; }

      private:
        SteppedExecutor& executor_;
        const std::shared_ptr<Task> task_;
    };

    std::vector<std::shared_ptr<Task>> tasks_;
};

}  // namespace partita::test
