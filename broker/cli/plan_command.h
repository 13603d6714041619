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
#include "broker/cli/kafka_place.h"

/// Internals of `partita plan`: the interface of its two sources of plans, a running Partita and any other Kafka.
namespace partita::cli {

struct PlanArguments {
    std::string topic;
    std::int64_t to = 0;
    /// The HTTP side of a running Partita.
    HttpPlace http;
    /// Any Kafka. Without bootstrap servers: use Partita's HTTP side.
    KafkaPlace kafka;
    /// True to read a Partita behind `kafka` like any other Kafka, instead of over HTTP.
    bool reads_over_kafka = false;
    /// Identifies the broker that must answer: its data directory as in its settings, and the id of its cluster. Empty if any
    /// broker may answer.
    std::string data_directory;
    std::string cluster_id;
    std::optional<std::int64_t> records;
    /// Milliseconds since 1970.
    std::optional<std::int64_t> since_ms;
    std::string partitioner;
    bool lists_keys = false;
    bool hashes_keys = false;
};

/// Receives progress while a plan is being made.
struct PlanListener {
    std::function<void(std::int64_t done, std::int64_t total)> progress;
    /// Takes a line about a broker that does not answer yet.
    std::function<void(const std::string& line)> trouble;
    /// Takes lines of `--keys`. Returns false if their reader is gone.
    std::function<bool(std::string_view lines)> keys;
};

struct PlanRefusal {
    /// The exit code of the process.
    int exit_code = 0;
    std::string message;
    /// True if no broker answered, or another one than required: it may be reachable in another way.
    bool is_elsewhere = false;
};

/// Ends the command with the failure of the asked server.
[[nodiscard]] inline std::unexpected<PlanRefusal> broken(std::string message) {
    return std::unexpected(PlanRefusal{kExitBroken, std::move(message)});
}

/// The text of a member. Empty if it is missing or not a text, because the server may not be a Partita.
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
