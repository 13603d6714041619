// `partita capacity [show]` and `partita capacity set N`: the units of capacity of a running broker, and the traffic that they
// allow.

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "broker/cli/addition.h"
#include "broker/cli/http_client.h"

namespace partita::capacity {
namespace {

using cli::ask_http;
using cli::Command;
using cli::CommandLine;
using cli::HttpAnswer;
using cli::HttpFailure;
using cli::HttpMethod;
using cli::kExitBroken;
using cli::kExitDone;
using cli::kExitUsage;
using cli::kHelp;
using cli::kHttp;
using cli::kHttpCa;
using cli::kHttpTokenFile;
using cli::kWholeNumber;
using cli::tell_http;

using nlohmann::json;

constexpr const char* kPath = "/v1/capacity";

std::string amount_text(const json& amount) {
    return amount.is_null() ? "unlimited" : std::to_string(amount.get<std::int64_t>());
}

/// "  ingress: 1000000 bytes or 1000 events a second, no wait".
void print_flow(const char* name, const json& flow) {
    const json& rate = flow.at("per_second");
    const auto wait_ms = flow.at("wait_ms").get<std::int64_t>();
    std::printf("  %s: %s bytes or %s events a second, %s\n", name, amount_text(rate.at("bytes")).c_str(),
                amount_text(rate.at("events")).c_str(),
                wait_ms == 0 ? "no wait" : ("a request now waits " + std::to_string(wait_ms) + " ms").c_str());
}

void print_capacity(const json& capacity) {
    if (capacity.at("units").is_null()) {
        std::puts("no limit: partita capacity set N gives the broker N units");
        return;
    }
    const auto units = capacity.at("units").get<std::int64_t>();
    std::printf("%lld unit%s", static_cast<long long>(units), units == 1 ? "" : "s");
    if (!capacity.at("units_max").is_null()) {
        std::printf(", raised automatically up to %s", amount_text(capacity.at("units_max")).c_str());
    }
    std::puts("");
    print_flow("ingress", capacity.at("ingress"));
    print_flow("egress", capacity.at("egress"));
    std::printf("  commits: %s a second for each partition of a group\n",
                amount_text(capacity.at("commits_per_partition_and_second")).c_str());
    const json& counts = capacity.at("counts");
    std::printf("  so far: %s requests, %s of them throttled; %s events in, %s out\n",
                amount_text(counts.at("incoming_requests")).c_str(), amount_text(counts.at("throttled_requests")).c_str(),
                amount_text(counts.at("incoming_messages")).c_str(), amount_text(counts.at("outgoing_messages")).c_str());
}

/// Prints the broker's answer. Returns kExitUsage if the broker refused the request.
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
            std::fprintf(stderr, "partita: the broker's answer has an unknown form: %s\n", error.what());
            return kExitBroken;
        }
    } else {
        std::fputs("partita: the broker's answer is not JSON\n", stderr);
        return kExitBroken;
    }
    return kExitDone;
}

constexpr tools::Option kAsJson{.name = "json", .argument = "", .help = "print the broker's answer as it is"};
constexpr tools::Option kCapacityOptions[] = {kAsJson, kHttp, kHttpTokenFile, kHttpCa, kHelp};

int run_capacity_show(const CommandLine& line) {
    return print_answer(ask_http(http_place_of(line), HttpMethod::get, kPath), line.has("json"));
}

constexpr tools::Option kSetPositionals[] = {
    {.name = "UNITS", .argument = "", .help = "set the number of units", .is_required = true, .check = kWholeNumber},
};
constexpr tools::Option kSetOptions[] = {
    {.name = "max",
     .argument = "units",
     .help = "let the broker add units up to this number when clients have to wait; 0 for never",
     .check = kWholeNumber},
    kAsJson,
    kHttp,
    kHttpTokenFile,
    kHttpCa,
    kHelp,
};
int run_capacity_set(const CommandLine& line) {
    json body{{"units", std::stoll(line.value("UNITS"))}};
    if (const auto units_max = line.integer("max")) {
        body["units_max"] = *units_max;
    }
    return print_answer(tell_http(http_place_of(line), HttpMethod::put, kPath, body.dump()), line.has("json"));
}

constexpr Command kCapacityActions[] = {
    {.name = "show",
     .summary = "show the units, their limits and the traffic",
     .options = kCapacityOptions,
     .run = run_capacity_show},
    {.name = "set",
     .summary = "set the number of units, at once and for later starts",
     .options = kSetOptions,
     .positionals = kSetPositionals,
     .run = run_capacity_set},
};

constexpr Command kCommands[] = {
    {.name = "capacity",
     .summary = "show and change the units of capacity that all topics of a broker share",
     .options = kCapacityOptions,
     .subcommands = kCapacityActions,
     .run = run_capacity_show},
};

}  // namespace

extern const cli::Addition kCommandAddition;
constinit const cli::Addition kCommandAddition{.commands = kCommands};

}  // namespace partita::capacity
