#pragma once

#include <cstdint>

#include "protocol/types.h"

namespace partita {

class MovableTime;

/// The source of time in the broker. Code outside the cores asks a clock that it was given; cores get the time as a value. Only
/// the real clock reads the system's clocks (`scripts/tidy` looks for other places). A simulation has a clock that stands still
/// until the simulation moves it.
///
/// Any thread may make all calls. They never wait.
class Clock {
  public:
    virtual ~Clock() = default;

    /// Both clocks of this moment. The monotonic one never goes back.
    [[nodiscard]] virtual Now now() = 0;
    /// Nanoseconds since some fixed moment, for measuring durations.
    [[nodiscard]] virtual std::int64_t stopwatch_ns() = 0;
    /// Processor time that the calling thread, or the whole process, has used: for work that keeps to a share of it. A clock that
    /// measures nothing stands still.
    [[nodiscard]] virtual std::int64_t thread_processor_ns() = 0;
    [[nodiscard]] virtual std::int64_t process_processor_ns() = 0;

    /// The clock itself if people may move it (a test bench). Then a rest until a time of the clock needs its help.
    [[nodiscard]] virtual MovableTime* movable() { return nullptr; }
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
