#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace partita::runtime {

/// How many processors this process may use at once: those that its affinity allows, and no more whole ones than the quota of its
/// control group pays for (a container's limit). At least one.
[[nodiscard]] std::size_t usable_processors();

/// The whole processors that a quota pays for, at least one; `cpu_max` is the content of a control group's cpu.max, "QUOTA
/// PERIOD" in microseconds. Empty without a quota, and for anything else.
[[nodiscard]] std::optional<std::size_t> processors_of_quota(std::string_view cpu_max);

}  // namespace partita::runtime
