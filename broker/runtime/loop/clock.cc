#include "broker/runtime/loop/clock.h"

#include <ctime>

namespace partita::runtime {
namespace {

std::int64_t read_ms(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<std::int64_t>(time.tv_sec) * 1000 + time.tv_nsec / 1'000'000;
}

}  // namespace

Now read_clock() { return {{read_ms(CLOCK_MONOTONIC)}, {read_ms(CLOCK_REALTIME)}}; }

std::int64_t read_stopwatch_ns() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace partita::runtime
