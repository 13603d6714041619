#pragma once

#include <cstdint>
#include <string>

namespace partita::scenarios {

/// "1 record", "2 records".
[[nodiscard]] inline std::string counted(std::int64_t count, const std::string& one) {
    return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

}  // namespace partita::scenarios
