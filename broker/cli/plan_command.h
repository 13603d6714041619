#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

/// Inside of `partita plan`: what its two sources of plans, a running Partita and any other Kafka, are given and give.
namespace partita::cli {

struct PlanArguments {
    std::string topic;
    std::int64_t to = 0;
    /// Of a running Partita, "host:port".
    std::string http;
    /// Of any Kafka; empty for Partita's HTTP side.
    std::string bootstrap;
    /// librdkafka settings, "key=value".
    std::vector<std::string> client_settings;
    /// A Partita behind `bootstrap` is read like any other Kafka, instead of being asked over HTTP.
    bool reads_over_kafka = false;
    /// Only the plan of this broker will do: what its settings say of its data directory, and the id of its cluster. Empty for
    /// whoever answers.
    std::string data_directory;
    std::string cluster_id;
    std::optional<std::int64_t> records;
    /// Milliseconds since 1970.
    std::optional<std::int64_t> since_ms;
    std::string partitioner;
    bool lists_keys = false;
    bool hashes_keys = false;
};

/// What comes while a plan is being made.
struct PlanListener {
    std::function<void(std::int64_t done, std::int64_t total)> progress;
    /// Lines of `--keys`. False: nobody reads them any more.
    std::function<bool(std::string_view lines)> keys;
};

struct PlanRefusal {
    /// The exit code of the process.
    int exit_code = 0;
    std::string message;
    /// Nobody answered, or another broker than the one that was meant: another way to it may do.
    bool is_elsewhere = false;
};

/// A member that is text; empty when there is none, or it is something else: whoever answered need not be a Partita.
[[nodiscard]] inline std::string text_member(const nlohmann::ordered_json& object, const char* name) {
    const auto member = object.find(name);
    return member != object.end() && member->is_string() ? member->get<std::string>() : std::string();
}

/// The plan as JSON text.
[[nodiscard]] std::expected<std::string, PlanRefusal> plan_over_http(const PlanArguments& arguments,
                                                                    const PlanListener& listener);
[[nodiscard]] std::expected<std::string, PlanRefusal> plan_over_kafka(const PlanArguments& arguments,
                                                                     const PlanListener& listener);

}  // namespace partita::cli
