// `partita broker list`, `kill`, `restart`, `pause`, `resume`, `isolate` and `join`: the brokers of a process that is several of
// them. Uses /v1/brokers of its HTTP side.

#include "broker/addons/faults/cli/broker_command.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>

#include "broker/cli/http_client.h"
#include "broker/cli/json_answer.h"
#include "protocol/printable.h"

namespace partita::faults {
namespace {

using cli::ask_http;
using cli::Command;
using cli::CommandLine;
using cli::HttpMethod;
using cli::HttpPlace;
using cli::kAnswerOptions;
using cli::print_text;
using nlohmann::ordered_json;

constexpr const char* kBrokersPath = "/v1/brokers";
constexpr std::string_view kUnnoticed = "unnoticed";

/// "2: up, port 9093, leads 3 of 7 partitions, rack b".
std::string readable_broker(const ordered_json& broker) {
    std::string text = std::to_string(broker.at("id").get<std::int64_t>()) + ": " + broker.at("state").get<std::string>();
    if (broker.at("fenced").get<bool>()) {
        text += ", fenced";
    }
    for (const ordered_json& listener : broker.at("listeners")) {
        text +=
            ", " + listener.at("name").get<std::string>() + " at port " + std::to_string(listener.at("port").get<std::int64_t>());
    }
    text += ", leads " + std::to_string(broker.at("leaders").get<std::int64_t>()) + " of its " +
            std::to_string(broker.at("replicas").get<std::int64_t>()) + " partitions";
    if (broker.contains("rack")) {
        text += ", rack " + broker.at("rack").get<std::string>();
    }
    return printable(text) + "\n";
}

int list_brokers(const CommandLine& line) {
    const HttpPlace http = http_place_of(line);
    const auto answer = cli::json_of(http, ask_http(http, HttpMethod::get, kBrokersPath));
    if (!answer) {
        return answer.error();
    }
    return cli::read_guarded(http, [&] {
        std::string text;
        for (const ordered_json& broker : answer->at("brokers")) {
            text += readable_broker(broker);
        }
        return print_text(line.has("json") ? answer->dump() + "\n" : text);
    });
}

int act_on_broker(const CommandLine& line, std::string_view action, const std::string& body) {
    const HttpPlace http = http_place_of(line);
    const std::string path = std::string(kBrokersPath) + "/" + line.value("ID") + "/" + std::string(action);
    const auto answer = cli::json_of(
        http, body.empty() ? ask_http(http, HttpMethod::post, path) : cli::tell_http(http, HttpMethod::post, path, body));
    if (!answer) {
        return answer.error();
    }
    return cli::read_guarded(
        http, [&] { return print_text(line.has("json") ? answer->dump() + "\n" : readable_broker(answer->at("changed"))); });
}

int kill_broker(const CommandLine& line) {
    return act_on_broker(line, "kill", line.has(kUnnoticed) ? ordered_json({{"noticed", false}}).dump() : std::string());
}
int restart_broker(const CommandLine& line) { return act_on_broker(line, "restart", {}); }
int pause_broker(const CommandLine& line) { return act_on_broker(line, "pause", {}); }
int resume_broker(const CommandLine& line) { return act_on_broker(line, "resume", {}); }
int isolate_broker(const CommandLine& line) { return act_on_broker(line, "isolate", {}); }
int join_broker(const CommandLine& line) { return act_on_broker(line, "join", {}); }

bool is_id(std::string_view text) {
    std::int32_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    return error == std::errc() && end == text.data() + text.size() && id >= 0;
}

constexpr tools::Check kId{is_id, "the id of a broker, such as 2"};
constexpr tools::Option kIds[] = {
    {.name = "ID", .argument = "", .help = "the id of the broker", .is_required = true, .check = kId},
};

constexpr auto kKillOptions = [] {
    std::array<tools::Option, std::size(kAnswerOptions) + 1> options{};
    std::ranges::copy(kAnswerOptions, std::next(options.begin()));
    options.front() = {.name = kUnnoticed,
                       .argument = "",
                       .help = "let the controller notice it only after broker.session.timeout.ms, as with kill -9"};
    return options;
}();

}  // namespace

constinit const Command kBrokerActions[7] = {
    {.name = "isolate",
     .summary = "cut a broker off from the other brokers, but not from clients",
     .purpose = "Cut a broker off from the other brokers, but not from clients, until partita broker join.",
     .options = kAnswerOptions,
     .positionals = kIds,
     .run = isolate_broker},
    {.name = "join",
     .summary = "end the isolation of a broker",
     .options = kAnswerOptions,
     .positionals = kIds,
     .run = join_broker},
    {.name = "kill",
     .summary = "close the listeners and connections of a broker",
     .purpose =
         "Close the listeners and connections of a broker, until partita broker restart. Other brokers lead its partitions.",
     .options = kKillOptions,
     .positionals = kIds,
     .run = kill_broker},
    {.name = "list", .summary = "print the brokers of a process", .options = kAnswerOptions, .run = list_brokers},
    {.name = "pause",
     .summary = "let a broker answer nothing",
     .purpose = "Let a broker answer nothing over its open connections, until partita broker resume.",
     .options = kAnswerOptions,
     .positionals = kIds,
     .run = pause_broker},
    {.name = "restart",
     .summary = "open the listeners of a killed broker again",
     .options = kAnswerOptions,
     .positionals = kIds,
     .run = restart_broker},
    {.name = "resume",
     .summary = "let a paused broker go on",
     .options = kAnswerOptions,
     .positionals = kIds,
     .run = resume_broker},
};

}  // namespace partita::faults
