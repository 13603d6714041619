#pragma once

#include <optional>
#include <span>
#include <string>

namespace partita::tools {
struct Tool;
}

/// Kafka's tools as commands of the program (`partita topics`), and under their own names, as links to it.
namespace partita::cli {

/// Runs the tool that a link's name selects, and returns its exit code. Null, without any effect, if no tool has the name.
[[nodiscard]] std::optional<int> run_named_tool(int argument_count, char** argument_values);

/// Runs a tool as `partita topics` does. It parses the words behind its name like Kafka's.
[[nodiscard]] int run_tool(const tools::Tool& tool, std::span<const std::string> words);

/// The brokers if the line names none: $PARTITA_BOOTSTRAP, else a broker on this machine.
[[nodiscard]] std::string usual_bootstrap();

}  // namespace partita::cli
