#pragma once

#include "broker/cli/command_line.h"

/// `partita check FILE...`: plans for topics that a change would let grow.
namespace partita::scenarios {

extern const tools::Option kCheckPositionals[1];
extern const tools::Option kCheckOptions[11];
[[nodiscard]] int run_check(const cli::CommandLine& line);

}  // namespace partita::scenarios
