#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace partita::runtime {

/// How many processors this process may use at once; at least one. Its affinity limits them, and so does the quota of its control
/// group (a container's limit), rounded down to whole processors.
[[nodiscard]] std::size_t usable_processors();

/// The number of whole processors that a quota allows; at least one. `cpu_max` is the content of a control group's cpu.max,
/// "QUOTA PERIOD" in microseconds. Empty without a quota, and for any other text.
[[nodiscard]] std::optional<std::size_t> processors_of_quota(std::string_view cpu_max);

}  // namespace partita::runtime
