// `partita capacity [show]` and `partita capacity set N`: how many units of capacity a running broker has, and what they let
// pass.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "broker/cli/addition.h"
#include "broker/cli/http_client.h"

namespace partita::capacity {
namespace {

using cli::Action;
using cli::add_http_options;
using cli::ask_http;
using cli::HttpAnswer;
using cli::HttpFailure;
using cli::HttpMethod;
using cli::HttpPlace;
using cli::kExitBroken;
using cli::kExitDone;
using cli::kExitUsage;
using cli::tell_http;

using nlohmann::json;

constexpr const char* kPath = "/v1/capacity";

struct CapacityArguments {
    std::int64_t units = 0;
    std::optional<std::int64_t> units_max;
    bool as_json = false;
};

std::string amount_text(const json& amount) {
    return amount.is_null() ? "any number" : std::to_string(amount.get<std::int64_t>());
}

/// "  ingress: 1000000 bytes or 1000 events a second, nobody has to wait".
void print_flow(const char* name, const json& flow) {
    const json& rate = flow.at("per_second");
    const auto wait_ms = flow.at("wait_ms").get<std::int64_t>();
    std::printf("  %s: %s bytes or %s events a second, %s\n", name, amount_text(rate.at("bytes")).c_str(),
                amount_text(rate.at("events")).c_str(),
                wait_ms == 0 ? "nobody has to wait" : ("who comes now waits for " + std::to_string(wait_ms) + " ms").c_str());
}

void print_capacity(const json& capacity) {
    if (capacity.at("units").is_null()) {
        std::puts("no limit: partita capacity set N gives the broker N units");
        return;
    }
    const auto units = capacity.at("units").get<std::int64_t>();
    std::printf("%lld unit%s", static_cast<long long>(units), units == 1 ? "" : "s");
    if (!capacity.at("units_max").is_null()) {
        std::printf(", up to %s by themselves", amount_text(capacity.at("units_max")).c_str());
    }
    std::puts("");
    print_flow("ingress", capacity.at("ingress"));
    print_flow("egress", capacity.at("egress"));
    std::printf("  commits: %s a second of each partition of a group\n",
                amount_text(capacity.at("commits_per_partition_and_second")).c_str());
    const json& counts = capacity.at("counts");
    std::printf("  so far: %s requests, %s of them throttled; %s events in, %s out\n",
                amount_text(counts.at("incoming_requests")).c_str(), amount_text(counts.at("throttled_requests")).c_str(),
                amount_text(counts.at("incoming_messages")).c_str(), amount_text(counts.at("outgoing_messages")).c_str());
}

/// Prints what the broker answered. kExitUsage when it refused.
int print_answer(const std::expected<HttpAnswer, HttpFailure>& answer, bool as_json) {
    if (!answer) {
        return report(answer.error());
    }
    if (!answer->is_good()) {
        std::fprintf(stderr, "partita: %s\n", answer->error().c_str());
        return answer->is_refusal() ? kExitUsage : kExitBroken;
    }
    const json capacity = json::parse(answer->body, nullptr, false);
    if (as_json) {
        std::fputs(answer->body.c_str(), stdout);
    } else if (capacity.is_object()) {
        try {
            print_capacity(capacity);
        } catch (const json::exception& error) {
            std::fprintf(stderr, "partita: the broker's answer is not understood: %s\n", error.what());
            return kExitBroken;
        }
    } else {
        std::fputs("partita: the broker's answer is no JSON\n", stderr);
        return kExitBroken;
    }
    return kExitDone;
}

void add_command(CLI::App& application, Action& chosen) {
    CLI::App* command = application.add_subcommand("capacity", "Units of capacity that all topics of a broker share");
    command->require_subcommand(0, 1);
    auto arguments = std::make_shared<CapacityArguments>();
    const auto prepare = [&](CLI::App& action, std::function<int(const HttpPlace&)> run) {
        action.add_flag("--json", arguments->as_json, "Prints the broker's answer as it is");
        auto http = std::make_shared<HttpPlace>();
        add_http_options(action, *http);
        action.final_callback([&chosen, &action, http, run = std::move(run)] {
            // The command itself stands for `show`, and is called after its subcommands.
            if (action.get_subcommands().empty()) {
                chosen = [http, run] { return run(*http); };
            }
        });
    };
    const auto show = [arguments](const HttpPlace& http) {
        return print_answer(ask_http(http, HttpMethod::get, kPath), arguments->as_json);
    };
    prepare(*command, show);
    prepare(*command->add_subcommand("show", "Shows the units, what they let pass, and what passed"), show);
    CLI::App* set = command->add_subcommand("set", "Changes the number of units, at once and for later starts");
    set->add_option("UNITS", arguments->units, "How many units there are from now on")->required();
    set->add_option("--max", arguments->units_max,
                    "Up to how many there may be by themselves when clients have to wait; 0 for never");
    prepare(*set, [arguments](const HttpPlace& http) {
        json body{{"units", arguments->units}};
        if (arguments->units_max) {
            body["units_max"] = *arguments->units_max;
        }
        return print_answer(tell_http(http, HttpMethod::put, kPath, body.dump()), arguments->as_json);
    });
}

}  // namespace

extern const cli::Addition kCommandAddition;
constinit const cli::Addition kCommandAddition{.add_commands = add_command};

}  // namespace partita::capacity
