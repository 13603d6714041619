#pragma once

#include <optional>
#include <string>

#include "broker/cli/command_line.h"

/// The commands of the program: one file each, <name>_command.cc, and one line each in commands.cc. Kafka's tools are commands,
/// too, and addons add some (addition.h).
namespace partita::cli {

// Exit codes for scripts. A command that answers a question may add codes of its own (3 and up) and documents them.
inline constexpr int kExitDone = 0;
/// Something failed while the command ran.
inline constexpr int kExitBroken = 1;
/// The command was refused before it did anything: wrong usage, settings, a port, a directory.
inline constexpr int kExitUsage = 2;

/// Runs the broker. It also runs if the line names no command, so its options are options of the program, too.
[[nodiscard]] const Command& serve_command();
/// Creates a directory with certificates, users and settings for `serve --security`.
extern const Command kDevSecurityCommand;
/// Shows the partition of a key.
extern const Command kPartitionerCommand;
/// Shows and changes the protection of a topic's growth in a running broker, and its test controls.
extern const Command kControlCommand;
/// Reports the effects of growing a topic. Exit code 0 safe, 3 findings or no verdict.
extern const Command kPlanCommand;
/// Prints the findings of a running broker, and every change of them when it happens.
extern const Command kWatchCommand;
/// Lists the findings of a running broker, and marks harm as seen.
extern const Command kFindingsCommand;
/// Shows topics with their rates, groups with their lag, findings and clients of a running broker, redrawn periodically.
extern const Command kTopCommand;
/// Fills a cluster with topics, records and offsets from a file.
extern const Command kSeedCommand;
/// Prints a shell's completion script.
extern const Command kCompletionCommand;
/// Prints manual pages of commands.
extern const Command kManualCommand;

/// The program: its own options are those of `serve`; its subcommands are ascending by name.
[[nodiscard]] const Command& program();

/// Answers a shell's completion request, and returns the exit code; null if the line is something else. It runs before any other
/// parsing, because the line to complete is unfinished.
[[nodiscard]] std::optional<int> run_completion(int argument_count, char** argument_values);

/// Prints one line on standard error with the reason of a refusal; returns kExitUsage.
[[nodiscard]] int refuse(const std::string& message);

}  // namespace partita::cli
