#include "schedule/clock.h"

#include <ctime>

namespace partita {
namespace {

// Every Linux has these clocks, so reading one cannot fail.

std::int64_t read_ms(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

std::int64_t read_ns(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Now SystemClock::now() { return {{read_ms(CLOCK_MONOTONIC)}, {read_ms(CLOCK_REALTIME)}}; }

std::int64_t SystemClock::stopwatch_ns() { return read_ns(CLOCK_MONOTONIC); }

std::int64_t SystemClock::thread_processor_ns() { return read_ns(CLOCK_THREAD_CPUTIME_ID); }

std::int64_t SystemClock::process_processor_ns() { return read_ns(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace partita
