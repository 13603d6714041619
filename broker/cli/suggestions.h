#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

/// "Did you mean" for the command line.
namespace partita::cli {

/// A sentence about the first word of the line that nothing takes, where a command or an option is called nearly so: "did you mean
/// plan?". Null when all words were taken, or none is near. After a parse that failed.
[[nodiscard]] std::optional<std::string> suggestion(const CLI::App& application);

}  // namespace partita::cli
