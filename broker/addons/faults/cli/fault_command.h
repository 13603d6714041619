#pragma once

#include "broker/cli/command.h"

namespace partita::faults {

/// The subcommands of `partita fault`: add, list, release and remove faults of a running broker.
extern const cli::Command kFaultActions[4];

}  // namespace partita::faults
