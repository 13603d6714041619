#pragma once

#include <string>

namespace partita::runtime {

/// Why the broker does not start: one line on which the user can act.
struct [[nodiscard]] StartError {
    std::string message;
};

}  // namespace partita::runtime
