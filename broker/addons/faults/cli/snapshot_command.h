#pragma once

#include "broker/cli/command.h"

namespace partita::faults {

/// The subcommands of `partita snapshot`: list, remove, restore and take.
extern const cli::Command kSnapshotActions[4];

}  // namespace partita::faults
