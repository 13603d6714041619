#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "broker/cli/command.h"
#include "broker/cli/http_client.h"

/// Internals of `partita plan`: the interface of its two sources of plans, a running Partita and any other Kafka.
namespace partita::cli {

struct PlanArguments {
    std::string topic;
    std::int64_t to = 0;
    /// The HTTP side of a running Partita.
    HttpPlace http;
    /// Bootstrap servers of any Kafka; empty to ask Partita's HTTP side.
    std::string bootstrap;
    /// A file with settings of the client that reads; empty for none.
    std::string client_config;
    /// More of them, "key=value".
    std::vector<std::string> client_settings;
    /// True to read a Partita behind `bootstrap` like any other Kafka, instead of asking it over HTTP.
    bool reads_over_kafka = false;
    /// The broker that must answer: its data directory as its settings say it, and the id of its cluster. Empty when any broker
    /// may answer.
    std::string data_directory;
    std::string cluster_id;
    std::optional<std::int64_t> records;
    /// Milliseconds since 1970.
    std::optional<std::int64_t> since_ms;
    std::string partitioner;
    bool lists_keys = false;
    bool hashes_keys = false;
};

/// Hears of progress while a plan is being made.
struct PlanListener {
    std::function<void(std::int64_t done, std::int64_t total)> progress;
    /// Takes a line about a broker that does not answer yet.
    std::function<void(const std::string& line)> trouble;
    /// Takes lines of `--keys`. Returns false when nobody reads them any more.
    std::function<bool(std::string_view lines)> keys;
};

struct PlanRefusal {
    /// The exit code of the process.
    int exit_code = 0;
    std::string message;
    /// True when nobody answered, or another broker than the one that must answer: it may be reached in another way.
    bool is_elsewhere = false;
};

/// Ends the command: whoever was asked did not do its part.
[[nodiscard]] inline std::unexpected<PlanRefusal> broken(std::string message) {
    return std::unexpected(PlanRefusal{kExitBroken, std::move(message)});
}

/// The text of a member. Empty when there is no such member or it is no text, because whoever answered need not be a Partita.
[[nodiscard]] inline std::string text_member(const nlohmann::ordered_json& object, const char* name) {
    const auto member = object.find(name);
    return member != object.end() && member->is_string() ? member->get<std::string>() : std::string();
}

/// Each returns the plan as JSON text.
[[nodiscard]] std::expected<std::string, PlanRefusal> plan_over_http(const PlanArguments& arguments,
                                                                     const PlanListener& listener);
[[nodiscard]] std::expected<std::string, PlanRefusal> plan_over_kafka(const PlanArguments& arguments,
                                                                      const PlanListener& listener);

}  // namespace partita::cli
