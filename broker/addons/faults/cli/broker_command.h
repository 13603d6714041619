#pragma once

#include "broker/cli/command.h"

namespace partita::faults {

extern const cli::Command kBrokerActions[7];

}  // namespace partita::faults
