#pragma once

#include <string>

namespace partita::runtime {

/// Why the broker does not start: one line for the user, who can act on it.
struct StartError {
    std::string message;
};

}  // namespace partita::runtime
