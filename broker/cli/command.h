#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

/// The subcommands of the program: one file each, <name>_command.cc, and one line each in commands.cc.
///
/// A command adds itself with its options to the application. When the command line names it, it leaves in
/// `chosen` what is to run; nothing runs while the line is still being parsed, so that a later mistake on
/// the line stops it.
namespace partita::cli {

// What scripts can rely on. A command that answers a question may add codes of its own (3 and up) and
// documents them.
inline constexpr int kExitDone = 0;
/// Something broke on the way.
inline constexpr int kExitBroken = 1;
/// Refused before anything was done: usage, settings, a port, a directory.
inline constexpr int kExitUsage = 2;

/// Runs the command; returns the exit code of the process.
using Action = std::function<int()>;

/// Serves, with and without the word `serve`: this one also adds its options to the application itself and
/// is what runs when no other command is named.
void add_serve_command(CLI::App& application, Action& chosen);
/// `partitioner`: which partition a key goes to.
void add_partitioner_command(CLI::App& application, Action& chosen);

/// `control`: protection of a topic's growth, and test controls, of a running broker.
void add_control_command(CLI::App& application, Action& chosen);

/// `plan`: what growing a topic would do. Exit code 0 safe, 3 findings or no verdict.
void add_plan_command(CLI::App& application, Action& chosen);

/// `watch`: the findings of a running broker, and every change of them, as they happen.
void add_watch_command(CLI::App& application, Action& chosen);

/// Adds all commands.
void add_commands(CLI::App& application, Action& chosen);

/// Says on standard error, in one line, why nothing was done; returns kExitUsage.
[[nodiscard]] int refuse(const std::string& message);

}  // namespace partita::cli
