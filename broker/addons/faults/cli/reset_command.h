#pragma once

#include "broker/cli/command_line.h"

namespace partita::faults {

/// `partita reset`: makes the cluster of a running broker as it was at the first start.
[[nodiscard]] int run_reset(const cli::CommandLine& line);

}  // namespace partita::faults
