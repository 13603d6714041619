#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

/// A broker's data for `partita top`, from the answers of its JSON API. Pure.
namespace partita::cli {

/// How many groups of a sample have their lag: each costs a question. Those with members come first.
inline constexpr std::size_t kTopGroupsAskedMax = 32;

struct TopTopic {
    std::string name;
    std::int64_t partitions = 0;
    std::int64_t bytes = 0;
    std::int64_t offsets = 0;
    /// The sum of all log ends.
    std::int64_t written = 0;
};

struct TopGroup {
    std::string name;
    std::string state;
    std::string type;
    /// Null: not asked.
    std::optional<std::int64_t> members;
    std::optional<std::int64_t> lag;
};

struct TopFinding {
    std::string id;
    std::string severity;
    std::string topic;
    std::string condition;
};

struct TopClient {
    std::string client_id;
    std::string software;
    std::string address;
    std::string program;
};

/// The state of a broker at one moment. Names are unchecked: the code that shows them must make them printable.
struct TopSample {
    std::int64_t time_ms = 0;
    std::string version;
    std::string kafka;
    std::int64_t node_id = 0;
    std::int64_t resident_bytes = 0;
    std::int64_t partitions = 0;
    /// All connections; `clients` of them produce or read.
    std::int64_t connections = 0;
    std::int64_t requests = 0;
    std::int64_t records_in = 0;
    std::int64_t bytes_in = 0;
    std::int64_t bytes_out = 0;
    std::vector<TopTopic> topics;
    std::vector<TopGroup> groups;
    std::vector<TopFinding> findings;
    std::vector<TopClient> clients;
    std::int64_t clients_in_all = 0;
};

// Each takes one answer. Returns false if the answer is not a broker's; missing members and those of another type count as empty.
[[nodiscard]] bool take_broker(const nlohmann::ordered_json& answer, TopSample& sample);
[[nodiscard]] bool take_topics(const nlohmann::ordered_json& answer, TopSample& sample);
/// Groups in the order of further questions: those that may have members, then the others, each by name.
[[nodiscard]] bool take_groups(const nlohmann::ordered_json& answer, TopSample& sample);
/// Takes the answer about one group of the sample: /v1/groups/G.
[[nodiscard]] bool take_group(const nlohmann::ordered_json& answer, TopGroup& group);
[[nodiscard]] bool take_findings(const nlohmann::ordered_json& answer, TopSample& sample);
[[nodiscard]] bool take_connections(const nlohmann::ordered_json& answer, TopSample& sample);

/// Changes per second between two samples of one broker. Null without an earlier sample, without elapsed time, or after a restart
/// of the broker, which resets its counters.
struct TopRates {
    double requests = 0;
    double records_in = 0;
    double bytes_in = 0;
    double bytes_out = 0;
};
[[nodiscard]] std::optional<TopRates> rates_between(const TopSample& earlier, const TopSample& later);
/// A topic's records per second; null if the earlier sample does not have it, or it was recreated.
[[nodiscard]] std::optional<double> records_a_second(const TopSample& earlier, const TopSample& later, const TopTopic& topic);

/// One line for machines, without its line end.
[[nodiscard]] std::string top_json(const TopSample& sample, const TopSample* earlier);

}  // namespace partita::cli
