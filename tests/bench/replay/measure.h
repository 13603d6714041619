#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace partita::bench {

using SteadyClock = std::chrono::steady_clock;

[[nodiscard]] double seconds_since(SteadyClock::time_point began);
[[nodiscard]] std::int64_t now_ns();

/// Processor time of a process, over all its threads, and of the whole machine. On loopback the kernel bills the receiver's TCP
/// work to the sender, so that a report needs the machine's figure beside the broker's.
struct Usage {
    double process_s = 0;
    double machine_s = 0;

    /// `pid` 0 leaves process_s at 0.
    [[nodiscard]] static Usage of(int pid);
};

/// Times of single events. Keeps every one of them, so that percentiles are exact.
class Latencies {
  public:
    explicit Latencies(std::size_t expected) { samples_ns_.reserve(expected); }
    void add(std::int64_t nanoseconds) { samples_ns_.push_back(nanoseconds); }
    [[nodiscard]] std::size_t count() const { return samples_ns_.size(); }
    /// The least sample such that at least `share` of all samples are not above it, in microseconds; sorts on first use.
    [[nodiscard]] double percentile_us(double share);

  private:
    std::vector<std::int64_t> samples_ns_;
    bool sorted_ = false;
};

/// Collects figures and prints them as one line of JSON.
class Report {
  public:
    explicit Report(const std::string& mode);
    void add(const std::string& name, double value);
    void add_usage(const Usage& before, int pid, double gigabytes);
    /// p50, p90, p99, p99.9 and the worst, as `name`_p50_us ...
    void add_percentiles(const std::string& name, Latencies& latencies);
    void print() const;

  private:
    std::string text_;
};

/// Allocates, touches and frees memory. On a virtual machine, the host may take free pages back within seconds. Page cache that
/// is then written for the first time costs five times more than anything that a broker does.
void touch_memory(std::uint64_t megabytes);

}  // namespace partita::bench
