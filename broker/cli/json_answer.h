#pragma once

#include <cstdio>
#include <expected>
#include <nlohmann/json.hpp>
#include <string>

#include "broker/cli/command.h"
#include "broker/cli/http_client.h"

/// Commands read the JSON answers of a broker with these.
namespace partita::cli {

inline constexpr tools::Option kAnswerAsJson{.name = "json", .argument = "", .help = "print the broker's answer as it is"};
/// The options of a command that asks for one thing.
inline constexpr tools::Option kAnswerOptions[] = {kAnswerAsJson, kHttp, kHttpTokenFile, kHttpCa, kHelp};

/// The JSON of a good answer. For any other one it prints the reason, and the error is the exit code.
[[nodiscard]] std::expected<nlohmann::ordered_json, int> json_of(const HttpPlace& http,
                                                                 const std::expected<HttpAnswer, HttpFailure>& answer);

/// Lets `action` read an answer. The server may not be a broker, so a member may be missing.
template <class Action>
[[nodiscard]] int read_guarded(const HttpPlace& http, Action action) {
    try {
        return action();
    } catch (const nlohmann::ordered_json::exception& problem) {
        return report_unknown_answer(http, problem.what());
    }
}

/// Prints the text on standard output; returns the exit code.
[[nodiscard]] inline int print_text(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    return std::fflush(stdout) == 0 ? kExitDone : kExitBroken;
}

}  // namespace partita::cli
