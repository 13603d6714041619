#pragma once

#include <cstdint>

#include "protocol/types.h"

namespace partita {

/// Time as the broker sees it. Everything beside the cores asks one clock, which is handed to it; cores are handed the value.
/// The real one is the only place of the program where a clock of the system is read (`scripts/tidy` looks for others). A
/// simulation has one that stands still until somebody moves it.
///
/// All calls may come from any thread, and wait for nothing.
class Clock {
  public:
    virtual ~Clock() = default;

    /// Both clocks of this moment. The monotonic one never goes back.
    [[nodiscard]] virtual Now now() = 0;
    /// For how long something takes: nanoseconds since some moment that stays the same.
    [[nodiscard]] virtual std::int64_t stopwatch_ns() = 0;
    /// Processor time that the calling thread, and the whole process, has used: for work that keeps to a share of it. Where
    /// nothing is measured, it stands still.
    [[nodiscard]] virtual std::int64_t thread_processor_ns() = 0;
    [[nodiscard]] virtual std::int64_t process_processor_ns() = 0;
};

/// The clocks of the system. Stateless.
class SystemClock final : public Clock {
  public:
    [[nodiscard]] Now now() override;
    [[nodiscard]] std::int64_t stopwatch_ns() override;
    [[nodiscard]] std::int64_t thread_processor_ns() override;
    [[nodiscard]] std::int64_t process_processor_ns() override;
};

}  // namespace partita
