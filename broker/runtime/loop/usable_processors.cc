#include "broker/runtime/loop/usable_processors.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace partita::runtime {
namespace {

/// Empty if the file does not exist.
std::string content_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t processors_of_affinity() {
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        return static_cast<std::size_t>(CPU_COUNT(&allowed));
    }
    // The machine has more processors than the set can hold.
    return std::thread::hardware_concurrency();
}

/// The cpu.max of this process's own control group. Within a container that group is the root of the visible tree.
std::string cpu_max_of_this_process() {
    constexpr std::string_view kUnified = "0::";
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        if (!line.starts_with(kUnified)) {
            continue;
        }
        if (std::string found = content_of("/sys/fs/cgroup" + line.substr(kUnified.size()) + "/cpu.max"); !found.empty()) {
            return found;
        }
    }
    if (std::string found = content_of("/sys/fs/cgroup/cpu.max"); !found.empty()) {
        return found;
    }
    // The first version of control groups has two files, and -1 for no quota.
    return content_of("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") + " " + content_of("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
}

}  // namespace

std::optional<std::size_t> processors_of_quota(std::string_view cpu_max) {
    const auto next_number = [&cpu_max]() -> std::optional<std::uint64_t> {
        cpu_max.remove_prefix(std::min(cpu_max.find_first_not_of(" \n"), cpu_max.size()));
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(cpu_max.data(), cpu_max.data() + cpu_max.size(), value);
        if (error != std::errc()) {
            return std::nullopt;
        }
        cpu_max.remove_prefix(static_cast<std::size_t>(end - cpu_max.data()));
        return value;
    };
    const auto quota = next_number();
    const auto period = quota ? next_number() : std::nullopt;
    if (!period || *period == 0) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(std::max<std::uint64_t>(*quota / *period, 1));
}

std::size_t usable_processors() {
    const std::size_t allowed = std::max<std::size_t>(processors_of_affinity(), 1);
    return std::min(allowed, processors_of_quota(cpu_max_of_this_process()).value_or(allowed));
}

}  // namespace partita::runtime
