#pragma once

#include <atomic>
#include <cstdint>

#include "schedule/clock.h"

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

}  // namespace partita::test
