#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

/// "Did you mean" for the command line.
namespace partita::cli {

/// Suggests a command or option whose name is close to the first word of the line that the parser could not use: "did you mean
/// plan?". Call it after a parse that failed. Empty when the parser could use all words, or no name is close.
[[nodiscard]] std::optional<std::string> suggestion(const CLI::App& application);

}  // namespace partita::cli
