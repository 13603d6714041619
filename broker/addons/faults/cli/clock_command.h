#pragma once

#include "broker/cli/command.h"

namespace partita::faults {

/// The subcommands of `partita clock`: advance, freeze, resume, set and show the clock of a running broker.
extern const cli::Command kClockActions[5];

}  // namespace partita::faults
