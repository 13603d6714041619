#pragma once

#include "broker/cli/command.h"

namespace partita::faults {

/// `partita fault`: adds, lists, removes and releases faults of a running broker.
extern const cli::Command kFaultCommands[1];

}  // namespace partita::faults
