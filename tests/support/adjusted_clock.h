#pragma once

#include <atomic>
#include <cstdint>

#include "schedule/clock.h"

namespace partita::test {

/// The system's clocks, of which a test has two things in its hand: it sets them forward, instead of waiting until a time is over
/// that a busy machine may let pass too early, and it lets nothing be measured until it wants that. From any thread.
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

    /// By so much both clocks are ahead of the system's. Who sleeps until a time finds it over when something else wakes him.
    std::atomic<std::int64_t> shift_ms = 0;
    /// While it is false, everything takes no time and no processor.
    std::atomic<bool> measures = true;

  private:
    SystemClock system_;
};

}  // namespace partita::test
