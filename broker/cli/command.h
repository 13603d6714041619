#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>

/// The subcommands of the program: one file each, <name>_command.cc, and one line each in commands.cc.
///
/// Each function adds its command with its options to the application. When the command line names the command, it puts into
/// `chosen` what is to run. Nothing runs while the line is being parsed, so that a later mistake on the line stops it.
namespace partita::cli {

// What scripts can rely on. A command that answers a question may add codes of its own (3 and up) and
// documents them.
inline constexpr int kExitDone = 0;
/// Something failed while the command ran.
inline constexpr int kExitBroken = 1;
/// The command was refused before it did anything: wrong usage, settings, a port, a directory.
inline constexpr int kExitUsage = 2;

/// Runs the command; returns the exit code of the process.
using Action = std::function<int()>;

/// `serve`: runs the broker. It also runs when the line names no command, so its options are options of the application, too.
void add_serve_command(CLI::App& application, Action& chosen);
/// `dev-security`: makes a directory with certificates, users and settings, which `serve --security` takes.
void add_dev_security_command(CLI::App& application, Action& chosen);

/// `partitioner`: which partition a key goes to.
void add_partitioner_command(CLI::App& application, Action& chosen);

/// `control`: shows and changes what protects a topic's growth in a running broker, and its test controls.
void add_control_command(CLI::App& application, Action& chosen);

/// `plan`: what growing a topic would do. Exit code 0 safe, 3 findings or no verdict.
void add_plan_command(CLI::App& application, Action& chosen);

/// `watch`: prints the findings of a running broker, and every change of them as it happens.
void add_watch_command(CLI::App& application, Action& chosen);

/// `top`: topics with their rates, groups with their lag, findings and clients of a running broker, drawn anew again and again.
void add_top_command(CLI::App& application, Action& chosen);

/// `completion`: what a shell needs to complete lines; `manual`: pages about commands.
void add_completion_commands(CLI::App& application, Action& chosen);
/// Answers a shell that asks what can follow, and returns the exit code; null when the line asks something else. It comes before
/// any other parsing, for the line that it is about is not finished.
[[nodiscard]] std::optional<int> run_completion(int argument_count, char** argument_values);

/// Adds all commands.
void add_commands(CLI::App& application, Action& chosen);

/// Prints one line on standard error that says why nothing was done; returns kExitUsage.
[[nodiscard]] int refuse(const std::string& message);

}  // namespace partita::cli
