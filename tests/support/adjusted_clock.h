#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "schedule/clock.h"
#include "schedule/executor.h"

namespace partita::test {

/// The system's clocks, with two controls for a test. The test can set the clocks forward instead of waiting for a time to pass,
/// which a busy machine may let pass too early. It can also keep the stopwatches at 0 until it wants measurements. Callable from
/// any thread.
class AdjustedClock final : public Clock {
  public:
    [[nodiscard]] Now now() override {
        Now now = system_.now();
        now.monotonic = now.monotonic + shift_ms.load();
        now.wall.value += shift_ms.load();
        return now;
    }
    [[nodiscard]] std::int64_t stopwatch_ns() override { return measures ? system_.stopwatch_ns() : 0; }
    [[nodiscard]] std::int64_t thread_processor_ns() override { return measures ? system_.thread_processor_ns() : 0; }
    [[nodiscard]] std::int64_t process_processor_ns() override { return measures ? system_.process_processor_ns() : 0; }

    /// How far both clocks are ahead of the system's. A thread that sleeps until a time sees the new time only when something
    /// else wakes it.
    std::atomic<std::int64_t> shift_ms = 0;
    /// While it is false, everything seems to take no time and no processor.
    std::atomic<bool> measures = true;

  private:
    SystemClock system_;
};

/// Threads whose steps tell their next time by an adjusted clock. After the clock was set forward, a step that rests still rests
/// for what it said before; the steps after it follow the new time.
class AdjustedExecutor final : public Executor {
  public:
    explicit AdjustedExecutor(const AdjustedClock& clock) : clock_(clock) {}

    [[nodiscard]] std::unique_ptr<Worker> start(std::string_view name, Step step) override {
        return threads_.start(name, [this, step = std::move(step)] {
            const Instant next = step();
            return next == kAtOnce || next == kNever || next == kOver ? next : next + -clock_.shift_ms.load();
        });
    }

  private:
    const AdjustedClock& clock_;
    ThreadExecutor threads_;
};

}  // namespace partita::test
