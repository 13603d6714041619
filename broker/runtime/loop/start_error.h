#pragma once

#include <string>

namespace partita::runtime {

/// Why the broker does not start: one line that tells the user what to do.
struct [[nodiscard]] StartError {
    std::string message;
};

}  // namespace partita::runtime
