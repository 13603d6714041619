#include "tests/bench/replay/measure.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "tests/bench/replay/settings.h"

namespace partita::bench {

double seconds_since(SteadyClock::time_point began) { return std::chrono::duration<double>(SteadyClock::now() - began).count(); }

std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now().time_since_epoch()).count();
}

Usage Usage::of(int pid) {
    Usage usage;
    const double ticks_per_s = static_cast<double>(::sysconf(_SC_CLK_TCK));
    std::ifstream machine("/proc/stat");
    std::string label;
    machine >> label;
    // user nice system idle iowait irq softirq steal
    for (int field = 0; field < 8; ++field) {
        double ticks = 0;
        machine >> ticks;
        const bool is_idle = field == 3 || field == 4;
        if (!is_idle) {
            usage.machine_s += ticks / ticks_per_s;
        }
    }
    if (pid == 0) {
        return usage;
    }
    // /proc counts in ticks of 10 ms, and a short run has only four of them.
    clockid_t clock{};
    timespec used{};
    if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) {
        give_up("there is no process " + std::to_string(pid));
    }
    usage.process_s = static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
    return usage;
}

double Latencies::percentile_us(double share) {
    if (samples_ns_.empty()) {
        give_up("nothing was measured");
    }
    if (!sorted_) {
        std::sort(samples_ns_.begin(), samples_ns_.end());
    }
    sorted_ = true;
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(samples_ns_.size())));
    return static_cast<double>(samples_ns_[std::clamp<std::size_t>(rank, 1, samples_ns_.size()) - 1]) / 1000;
}

Report::Report(const std::string& mode) : text_("{\"mode\": \"" + mode + "\"") {}

void Report::add(const std::string& name, double value) {
    std::ostringstream number;
    number.precision(6);
    number << value;
    text_ += ", \"" + name + "\": " + number.str();
}

void Report::add_usage(const Usage& before, int pid, double gigabytes) {
    if (pid == 0) {
        return;
    }
    const Usage after = Usage::of(pid);
    add("broker_cpu_s", after.process_s - before.process_s);
    add("machine_cpu_s", after.machine_s - before.machine_s);
    if (gigabytes > 0) {
        add("cpu_s_per_gb", (after.process_s - before.process_s) / gigabytes);
        add("machine_cpu_s_per_gb", (after.machine_s - before.machine_s) / gigabytes);
    }
}

void Report::add_percentiles(const std::string& name, Latencies& latencies) {
    add(name + "_p50_us", latencies.percentile_us(0.5));
    add(name + "_p90_us", latencies.percentile_us(0.9));
    add(name + "_p99_us", latencies.percentile_us(0.99));
    add(name + "_p999_us", latencies.percentile_us(0.999));
    add(name + "_max_us", latencies.percentile_us(1));
}

void Report::print() const { std::printf("%s}\n", text_.c_str()); }

void touch_memory(std::uint64_t megabytes) {
    if (megabytes == 0) {
        return;
    }
    const std::size_t bytes = megabytes * 1'000'000;
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) {
        give_up("no memory to touch");
    }
    ::munmap(memory, bytes);
}

}  // namespace partita::bench
