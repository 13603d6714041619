#pragma once

#include <cstdint>

#include "schedule/clock.h"

namespace partita::test {

/// A clock that stands still until a test sets it. For one thread.
class StillClock final : public Clock {
  public:
    Now now() override { return {{ms}, {ms}}; }
    std::int64_t stopwatch_ns() override { return ms * 1'000'000; }
    std::int64_t thread_processor_ns() override { return 0; }
    std::int64_t process_processor_ns() override { return 0; }

    std::int64_t ms = 1'000;
};

}  // namespace partita::test
