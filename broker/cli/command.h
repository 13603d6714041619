#pragma once

#include <optional>
#include <string>

#include "broker/cli/command_line.h"

/// The commands of the program: one file each, <name>_command.cc, and one line each in commands.cc. Kafka's tools are commands,
/// too, and addons bring some (addition.h).
namespace partita::cli {

// What scripts can rely on. A command that answers a question may add codes of its own (3 and up) and
// documents them.
inline constexpr int kExitDone = 0;
/// Something failed while the command ran.
inline constexpr int kExitBroken = 1;
/// The command was refused before it did anything: wrong usage, settings, a port, a directory.
inline constexpr int kExitUsage = 2;

/// Runs the broker. It also runs when the line names no command, so its options are options of the program, too.
[[nodiscard]] const Command& serve_command();
/// Makes a directory with certificates, users and settings, which `serve --security` takes.
extern const Command kDevSecurityCommand;
/// Tells which partition a key goes to.
extern const Command kPartitionerCommand;
/// Shows and changes what protects a topic's growth in a running broker, and its test controls.
extern const Command kControlCommand;
/// Tells what growing a topic would do. Exit code 0 safe, 3 findings or no verdict.
extern const Command kPlanCommand;
/// Prints the findings of a running broker, and every change of them as it happens.
extern const Command kWatchCommand;
/// Shows topics with their rates, groups with their lag, findings and clients of a running broker, drawn anew again and again.
extern const Command kTopCommand;
/// Prints what a shell needs to complete lines.
extern const Command kCompletionCommand;
/// Prints pages about commands.
extern const Command kManualCommand;

/// The program: its own options are those of `serve`; its subcommands are ascending by name.
[[nodiscard]] const Command& program();

/// Answers a shell that asks what can follow, and returns the exit code; null when the line asks something else. It comes before
/// any other parsing, for the line that it is about is not finished.
[[nodiscard]] std::optional<int> run_completion(int argument_count, char** argument_values);

/// Prints one line on standard error that says why nothing was done; returns kExitUsage.
[[nodiscard]] int refuse(const std::string& message);

}  // namespace partita::cli
