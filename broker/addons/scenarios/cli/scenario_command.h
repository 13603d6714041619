#pragma once

#include "broker/cli/command.h"

/// `partita scenario FILE`, `partita scenario list` and `partita scenario run NAME`.
namespace partita::scenarios {

/// It passed.
inline constexpr int kExitPassed = 0;
/// An assertion or a wait failed, or the application ended with an error.
inline constexpr int kExitFailed = 1;
/// The scenario could not be played to its end.
inline constexpr int kExitBroken = 3;

extern const tools::Option kPlayOptions[6];
extern const tools::Option kPlayedFile[1];
extern const cli::Command kScenarioActions[3];
/// Plays the scenario in a file.
[[nodiscard]] int run_file(const cli::CommandLine& line);

}  // namespace partita::scenarios
