// `partita control ACTION TOPIC`: the protection of a topic's growth, and the test controls, of a running broker. Sends a request
// to its HTTP side and prints the JSON answer.

#include <cstdio>
#include <string>

#include "broker/cli/command.h"
#include "broker/cli/http_client.h"
#include "protocol/percent_encoding.h"

namespace partita::cli {
namespace {

/// Sends one request and prints the answer. Returns kExitUsage if the broker refuses it.
int ask(const CommandLine& line, HttpMethod method, const std::string& resource) {
    const auto answer =
        ask_http(http_place_of(line), method, "/v1/topics/" + percent_encoded(line.value("TOPIC")) + "/" + resource);
    if (!answer) {
        return report(answer.error());
    }
    std::fputs(answer->body.c_str(), answer->is_good() ? stdout : stderr);
    return answer->is_good() ? kExitDone : answer->is_refusal() ? kExitUsage : kExitBroken;
}

constexpr tools::Option kTopicOnly[] = {
    {.name = "TOPIC", .argument = "", .help = "the topic", .is_required = true},
};
constexpr tools::Option kControlOptions[] = {kHttp, kHttpTokenFile, kHttpCa, kHelp};

constexpr tools::Option kVisibilityOptions[] = {
    {.name = "producers",
     .argument = "time",
     .help = "hide new partitions from producers for this many milliseconds or until-released; released shows them"},
    {.name = "consumers",
     .argument = "time",
     .help = "hide new partitions from consumers for this many milliseconds or until-released; released shows them"},
    kHttp,
    kHttpTokenFile,
    kHttpCa,
    kHelp,
};
int run_visibility(const CommandLine& line) {
    std::string resource = "visibility?";
    if (const auto producers = line.find("producers")) {
        resource += "producers=" + percent_encoded(*producers) + "&";
    }
    if (const auto consumers = line.find("consumers")) {
        resource += "consumers=" + percent_encoded(*consumers);
    }
    return ask(line, HttpMethod::post, resource);
}

constexpr tools::Option kUnseedOptions[] = {
    {.name = "epoch",
     .argument = "number",
     .help = "take back the offsets of this expansion: 1 for the topic's first",
     .is_required = true,
     .check = kWholeNumber},
    kHttp,
    kHttpTokenFile,
    kHttpCa,
    kHelp,
};

constexpr Command kControlActions[] = {
    {.name = "show",
     .summary = "show mode, seeded offsets, fence and visibility",
     .options = kControlOptions,
     .positionals = kTopicOnly,
     .run = [](const CommandLine& line) { return ask(line, HttpMethod::get, "protection"); }},
    {.name = "nudge",
     .summary = "make the topic's consumers refresh their metadata now",
     .options = kControlOptions,
     .positionals = kTopicOnly,
     .run = [](const CommandLine& line) { return ask(line, HttpMethod::post, "nudge"); }},
    {.name = "visibility",
     .summary = "hide new partitions from producers or consumers, or show them again",
     .options = kVisibilityOptions,
     .positionals = kTopicOnly,
     .run = run_visibility},
    {.name = "unseed",
     .summary = "take back an expansion's seeded offsets, except those that a commit replaced",
     .options = kUnseedOptions,
     .positionals = kTopicOnly,
     .run =
         [](const CommandLine& line) {
             return ask(line, HttpMethod::delete_, "seeds?epoch=" + std::to_string(*line.integer("epoch")));
         }},
};
constexpr tools::Option kControlHelp[] = {kHelp};

}  // namespace

constinit const Command kControlCommand{.name = "control",
                                        .summary = "show a topic's protection, take back seeds, and run test controls",
                                        .options = kControlHelp,
                                        .subcommands = kControlActions};

}  // namespace partita::cli
