// `partita watch`: prints the findings of a running broker as they open, change and close. Reads /v1/events of its HTTP side, one
// JSON line for each event, until the broker ends or the output's reader has gone. With --ownership GROUP: shows the owners of
// the group's partitions, and takeovers. It polls /v1/groups/G/ownership; the broker does this work only for a poll.

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>

#include "broker/cli/clock_text.h"
#include "broker/cli/command.h"
#include "broker/cli/http_client.h"
#include "broker/cli/ownership_changes.h"
#include "protocol/percent_encoding.h"
#include "protocol/printable.h"

namespace partita::cli {
namespace {

using nlohmann::ordered_json;

/// No broker sends a longer line.
constexpr std::size_t kEventLineBytesMax = 1 << 20;

constexpr std::int64_t kEveryLeastMs = 50;
constexpr std::int64_t kEveryMostMs = 3'600'000;

struct WatchArguments {
    HttpPlace http;
    std::string topic;
    std::string group;
    std::int64_t every_ms = 0;
    bool as_json = false;
};

/// "14:02:11 opened  block H03 orders: group billing ... | Drain first ...". Throws the JSON library's exception if a field is
/// missing or of another type.
std::string readable(const ordered_json& event) {
    const ordered_json& finding = event.at("finding");
    const std::string kind = event.value("seen", false) ? "seen" : event.at("event").get<std::string>();
    std::string text = clock_time(event.at("time_ms")) + " " + kind + std::string(kind.size() < 8 ? 8 - kind.size() : 0, ' ') +
                       finding.at("severity").get<std::string>() + " " + finding.at("id").get<std::string>() + " " +
                       finding.at("subject").value("topic", "") + ": " + finding.at("condition").get<std::string>();
    // Clients choose their names, and the server may not be a broker.
    text = printable(text);
    if (kind == "opened") {
        text += "\n                  " + printable(finding.at("advice").get<std::string>());
    }
    return text;
}

/// Prints an event. Returns false if the output's reader has gone.
bool print_event(const WatchArguments& arguments, std::string_view line) {
    const auto event = ordered_json::parse(line, nullptr, false);
    if (!event.is_object() || !event.contains("finding")) {
        return true;
    }
    std::string text;
    try {
        if (!arguments.topic.empty() && event.at("finding").at("subject").value("topic", "") != arguments.topic) {
            return true;
        }
        text = arguments.as_json ? std::string(line) : readable(event);
    } catch (const ordered_json::exception&) {
        return true;  // An unknown schema: skip the event.
    }
    std::printf("%s\n", text.c_str());
    return std::fflush(stdout) == 0;
}

/// Several brokers may run on a machine, and an event does not name its broker.
void tell_broker(std::string_view broker) {
    std::fprintf(stderr, "partita: watching the broker %s\n", printable(broker).c_str());
}

int watch(const WatchArguments& arguments) {
    bool is_read = true;
    const auto take = [&](std::string_view line) {
        is_read = line.empty() || print_event(arguments, line);
        return is_read;
    };
    const auto answer = read_http_lines(arguments.http, "/v1/events", kEventLineBytesMax, take, tell_broker);
    if (!answer) {
        return report(answer.error());
    }
    if (!answer->is_good()) {
        return report({.message = "the broker at " + arguments.http.address + " sends no events: " + answer->error()});
    }
    if (!is_read) {
        return kExitDone;
    }
    return report(
        {.message = "the broker ended the event stream, because it stops, has too many readers, or this reader was too slow"});
}

/// Prints the changes. Returns false if the output's reader has gone.
bool print_changes(const WatchArguments& arguments, const std::vector<ordered_json>& changes) {
    for (const ordered_json& change : changes) {
        if (!arguments.topic.empty() && change.value("topic", arguments.topic) != arguments.topic) {
            continue;
        }
        std::printf("%s\n", (arguments.as_json ? change.dump() : readable_change(change)).c_str());
    }
    return std::fflush(stdout) == 0;
}

int watch_ownership(const WatchArguments& arguments) {
    const std::string target = "/v1/groups/" + percent_encoded(arguments.group) + "/ownership";
    constexpr int kNotFound = 404;
    constexpr int kBusy = 503;
    OwnershipChanges known;
    for (bool was_told = false;; std::this_thread::sleep_for(std::chrono::milliseconds(arguments.every_ms))) {
        const auto answer = ask_http(arguments.http, HttpMethod::get, target);
        if (!answer) {
            return report(answer.error());
        }
        if (answer->status == kBusy) {
            continue;
        }
        if (answer->status == kNotFound) {
            // The broker may be about to start.
            if (!was_told) {
                std::fprintf(stderr, "partita: %s; waiting for it\n", answer->error().c_str());
            }
            was_told = true;
            continue;
        }
        if (!answer->is_good()) {
            return report({.message = "the broker at " + arguments.http.address + " answers: " + answer->error()});
        }
        try {
            if (!print_changes(arguments, known.update(ordered_json::parse(answer->body)))) {
                return kExitDone;
            }
        } catch (const ordered_json::exception& problem) {
            return report_unknown_answer(arguments.http, problem.what());
        }
    }
}

constexpr tools::Option kWatchOptions[] = {
    kHttp,
    kHttpTokenFile,
    kHttpCa,
    {.name = "topic", .argument = "topic", .help = "show only findings of this topic"},
    {.name = "ownership", .argument = "group", .help = "show the owner of each partition of this group, and every takeover"},
    {.name = "every-ms",
     .argument = "number",
     .help = "with --ownership: refresh at this interval, in milliseconds",
     .default_value = "1000",
     .check = {is_between<kEveryLeastMs, kEveryMostMs>, "a whole number from 50 to 3600000"}},
    {.name = "json", .argument = "", .help = "print one JSON object for each event, as on /v1/events"},
    kHelp,
};

int run_watch(const CommandLine& line) {
    const WatchArguments arguments{.http = http_place_of(line),
                                   .topic = line.value("topic"),
                                   .group = line.value("ownership"),
                                   .every_ms = *line.integer("every-ms"),
                                   .as_json = line.has("json")};
    return arguments.group.empty() ? watch(arguments) : watch_ownership(arguments);
}

}  // namespace

constinit const Command kWatchCommand{
    .name = "watch",
    .summary = "show findings of a running broker as they happen, or the owners of a group's partitions",
    .options = kWatchOptions,
    .run = run_watch};

}  // namespace partita::cli
