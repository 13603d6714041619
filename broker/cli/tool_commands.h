#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

/// Kafka's tools as commands of the program (`partita topics`), and under their own names, as links that point to it.
namespace partita::cli {

/// Runs the tool that the line names, as `partita topics ...` or by the name of the program, and returns its exit code. Null when
/// it names none; nothing has happened then. It reads the line in Kafka's way, so it comes before any other parsing.
[[nodiscard]] std::optional<int> run_named_tool(int argument_count, char** argument_values);

/// Whom the commands ask where the line does not say: $PARTITA_BOOTSTRAP, else a broker of this machine.
[[nodiscard]] std::string usual_bootstrap();

/// Adds the tools' names to the application, for its help and for suggestions.
void add_tool_names(CLI::App& application);

}  // namespace partita::cli
