#include "broker/cli/tool_commands.h"

#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "broker/cli/web_service.h"
#include "broker/client/tcp_network.h"
#include "broker/tools/tool.h"

namespace partita::cli {

std::string usual_bootstrap() {
    const char* const named = std::getenv("PARTITA_BOOTSTRAP");
    return named == nullptr || *named == '\0' ? "localhost:9092" : named;
}

std::optional<int> run_named_tool(int argument_count, char** argument_values) {
    const std::vector<std::string> words(argument_values, argument_values + argument_count);
    if (words.empty()) {
        return std::nullopt;
    }
    std::size_t first = 1;
    const tools::Tool* tool = tools::tool_of_program(words[0]);
    if (tool == nullptr && words.size() > 1) {
        tool = tools::tool_of_command(words[1]);
        first = 2;
    }
    if (tool == nullptr) {
        return std::nullopt;
    }
    client::TcpNetwork network;
    const bool is_kafkas_name = first == 1;
    const tools::Surroundings surroundings{
        network, stdin, stdout, stderr, is_kafkas_name, is_kafkas_name ? "" : usual_bootstrap(), ask_web_service};
    return tools::run_tool(*tool, std::span(words).subspan(first), surroundings);
}

void add_tool_names(CLI::App& application) {
    for (const tools::Tool* tool : tools::all_tools()) {
        CLI::App* command = application.add_subcommand(std::string(tool->name), std::string(tool->summary));
        command->prefix_command();
        if (!tool->kafka_name.empty()) {
            command->group("Kafka's tools");
        }
    }
}

}  // namespace partita::cli
