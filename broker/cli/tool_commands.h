#pragma once

#include <optional>
#include <span>
#include <string>

namespace partita::tools {
struct Tool;
}

/// Kafka's tools as commands of the program (`partita topics`), and under their own names, as links that point to it.
namespace partita::cli {

/// Runs the tool whose name the program has, as a link, and returns its exit code. Null when it has none; nothing has happened
/// then.
[[nodiscard]] std::optional<int> run_named_tool(int argument_count, char** argument_values);

/// Runs a tool as `partita topics` does. It reads the words behind its name in Kafka's way.
[[nodiscard]] int run_tool(const tools::Tool& tool, std::span<const std::string> words);

/// Whom the commands ask where the line does not say: $PARTITA_BOOTSTRAP, else a broker of this machine.
[[nodiscard]] std::string usual_bootstrap();

}  // namespace partita::cli
