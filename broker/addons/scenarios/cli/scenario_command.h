#pragma once

#include <span>

#include "broker/cli/command.h"

/// `partita scenario FILE`, `partita scenario list` and `partita scenario run NAME`.
namespace partita::scenarios {

/// It passed.
inline constexpr int kExitPassed = 0;
/// An assertion or a wait failed, or the application ended with an error.
inline constexpr int kExitFailed = 1;
/// The scenario could not be played to its end.
inline constexpr int kExitBroken = 3;

extern const cli::Command kScenarioCommand;

}  // namespace partita::scenarios
