// `partita control ACTION TOPIC`: what protects a topic's growth, and the test controls, of a running broker. Asks
// its HTTP side and prints the JSON that it answers.

#include <cstdio>
#include <memory>
#include <string>

#include "broker/cli/command.h"
#include "broker/cli/http_client.h"
#include "protocol/percent_encoding.h"

namespace partita::cli {
namespace {

struct ControlArguments {
    HttpPlace http;
    std::string topic;
    std::string producers;
    std::string consumers;
    int epoch = 0;
};

/// Sends one request and prints the answer. kExitUsage when the broker refuses it.
int ask(const ControlArguments& arguments, HttpMethod method, const std::string& target) {
    const auto answer = ask_http(arguments.http, method, target);
    if (!answer) {
        return report(answer.error());
    }
    std::fputs(answer->body.c_str(), answer->is_good() ? stdout : stderr);
    return answer->is_good() ? kExitDone : answer->is_refusal() ? kExitUsage : kExitBroken;
}

std::string path_of(const ControlArguments& arguments, std::string_view resource) {
    return "/v1/topics/" + percent_encoded(arguments.topic) + "/" + std::string(resource);
}

}  // namespace

void add_control_command(CLI::App& application, Action& chosen) {
    auto arguments = std::make_shared<ControlArguments>();
    CLI::App* command = application.add_subcommand("control", "Protection of a topic's growth, and test controls");
    command->require_subcommand(1);
    const auto add = [&](const std::string& name, const std::string& text, std::function<int()> run) {
        CLI::App* action = command->add_subcommand(name, text);
        action->add_option("TOPIC", arguments->topic, "The topic")->required();
        // The environment is read for every action, also for those that the line does not name.
        auto http = std::make_shared<HttpPlace>();
        add_http_options(*action, *http);
        action->final_callback([&chosen, arguments, http, run = std::move(run)] {
            arguments->http = *http;
            chosen = run;
        });
        return action;
    };
    add("show", "Shows mode, seeded offsets, fence and visibility",
        [arguments] { return ask(*arguments, HttpMethod::get, path_of(*arguments, "protection")); });
    add("nudge", "Makes the topic's consumers refresh their metadata now",
        [arguments] { return ask(*arguments, HttpMethod::post, path_of(*arguments, "nudge")); });
    CLI::App* visibility = add("visibility", "Hides new partitions from clients of a role, or shows them", [arguments] {
        std::string target = path_of(*arguments, "visibility") + "?";
        target += arguments->producers.empty() ? "" : "producers=" + percent_encoded(arguments->producers) + "&";
        target += arguments->consumers.empty() ? "" : "consumers=" + percent_encoded(arguments->consumers);
        return ask(*arguments, HttpMethod::post, target);
    });
    visibility->add_option("--producers", arguments->producers, "Milliseconds, until-released or released");
    visibility->add_option("--consumers", arguments->consumers, "Milliseconds, until-released or released");
    CLI::App* unseed = add("unseed", "Takes back offsets that an expansion gave and nobody committed over", [arguments] {
        return ask(*arguments, HttpMethod::delete_, path_of(*arguments, "seeds") + "?epoch=" + std::to_string(arguments->epoch));
    });
    unseed->add_option("--epoch", arguments->epoch, "The expansion: 1 for the topic's first")->required();
}

}  // namespace partita::cli
