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
    const tools::Tool* tool = words.empty() ? nullptr : tools::tool_of_program(words[0]);
    if (tool == nullptr) {
        return std::nullopt;
    }
    client::TcpNetwork network;
    const tools::Surroundings surroundings{network, stdin, stdout, stderr, true, "", ask_web_service};
    return tools::run_tool(*tool, std::span(words).subspan(1), surroundings);
}

int run_tool(const tools::Tool& tool, std::span<const std::string> words) {
    client::TcpNetwork network;
    const tools::Surroundings surroundings{network, stdin, stdout, stderr, false, usual_bootstrap(), ask_web_service};
    return tools::run_tool(tool, words, surroundings);
}

}  // namespace partita::cli
