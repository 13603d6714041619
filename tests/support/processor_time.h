#pragma once

#include <chrono>
#include <ctime>

namespace partita::test {

/// Processor time that the calling thread has used. It measures the cost of work, however much of the machine other programs
/// take.
[[nodiscard]] inline std::chrono::nanoseconds processor_time_of_thread() {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace partita::test
