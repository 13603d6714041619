// `partita reset`: a clean state of a running broker with a test bench. Uses /v1/everything of the broker's HTTP side.

#include "broker/addons/faults/cli/reset_command.h"

#include <nlohmann/json.hpp>
#include <string>

#include "broker/cli/http_client.h"
#include "broker/cli/json_answer.h"
#include "protocol/printable.h"

namespace partita::faults {

int run_reset(const cli::CommandLine& line) {
    const cli::HttpPlace http = http_place_of(line);
    const auto answer = cli::json_of(http, ask_http(http, cli::HttpMethod::delete_, "/v1/everything"));
    if (!answer) {
        return answer.error();
    }
    return cli::read_guarded(http, [&] {
        std::string text;
        for (const auto& [kind, count] : answer->at("removed").items()) {
            text += (text.empty() ? "removed " : ", ") + std::to_string(count.get<std::int64_t>()) + " " + printable(kind);
        }
        return cli::print_text(line.has("json") ? answer->dump() + "\n" : text + "\n");
    });
}

}  // namespace partita::faults
