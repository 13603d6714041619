#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/seed/seed.h"
#include "broker/yaml/yaml.h"

/// Scenarios: a broker, an application and steps in time, with conditions to wait for and to assert, as people write them down
/// (docs/scenarios.md).
namespace partita::scenarios {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// The broker of a scenario.
struct BrokerWish {
    Settings configs;
    /// The folder of a snapshot with which it begins; empty for none.
    std::string from_snapshot;
    bool has_test_bench = true;
};

/// How an application tells which records it has processed.
enum class Reports : std::uint8_t {
    nothing,          ///< it reads nothing that the scenario judges: a producer
    commits,          ///< it only commits: committed offsets and findings are all that is known
    standard_output,  ///< a JSON line for each record, with partition and offset
    topic,            ///< the same as a record's value, in a topic
};

/// The user's program.
struct Application {
    /// A line for the shell. Empty: the command line of the scenario must name one.
    std::string command;
    std::int32_t instances = 1;
    Settings environment;
    /// Its input, which assertions about delivery concern; a producer's output.
    std::string topic;
    /// Empty: it reads in no group.
    std::string group;
    Reports reports = Reports::commits;
    std::string report_topic;
    /// Where it begins in a partition that exists at its first start, and in which its group has not committed: at the end, or at
    /// the start.
    bool begins_at_end = false;
    /// An instance may end by itself with an error.
    bool may_fail = false;
};

/// Something that holds or does not.
struct Condition {
    enum class Kind : std::uint8_t {
        members,        ///< `group` has `number` members, and is stable
        assigned,       ///< each partition of `topic` has a member of `group`
        lag,            ///< `group` has at most `number` records left to read (in `topic`, if that is set)
        records,        ///< `topic` has at least `number` records
        findings,       ///< `present` are open or over, `absent` are not, and no open one is of `severity`
        received,       ///< the application has reported at least `number` records
        quiet,          ///< since the step began, the application has reported nothing for `number` milliseconds
        ended,          ///< all instances of the application have ended
        nothing_lost,   ///< the application received each record
        nothing_twice,  ///< and none of them twice
        order_of_keys,  ///< and the records of each key in their order
    };
    Kind kind{};
    std::string group;
    std::string topic;
    std::int64_t number = 0;
    std::vector<std::string> present;
    std::vector<std::string> absent;
    std::string severity;

    /// "group billing has 2 members".
    [[nodiscard]] std::string text() const;
};

/// A request to the broker's HTTP side.
struct Request {
    enum class Method : std::uint8_t { get, post, put, delete_ };
    Method method{};
    /// "/v1/topics/orders/partitions".
    std::string target;
    /// JSON, or empty.
    std::string body;
    /// The broker must refuse it, with this code of Kafka unless that is empty.
    bool must_be_refused = false;
    std::string refusal_code;
};

struct Step {
    enum class Kind : std::uint8_t { load, start, stop, kill, ask, wait, assert_ };
    Kind kind{};
    /// "grow orders to 8", for people.
    std::string text;
    seed::Seed load;
    /// Instances to start.
    std::int32_t instances = 0;
    std::vector<Request> requests;
    std::vector<Condition> conditions;
    /// How long to wait, to let the application stop, or how long an assertion must hold.
    std::int64_t time_ms = 0;
};

struct Scenario {
    static constexpr std::size_t kStepsMax = 1000;
    static constexpr std::int32_t kInstancesMax = 32;
    static constexpr std::int64_t kTimeMsMax = std::int64_t{24} * 3600 * 1000;
    static constexpr std::int64_t kTimeLimitMs = 120'000;
    static constexpr std::int64_t kWaitMs = 30'000;
    /// Findings come within this time: an assertion about an application that reports nothing must hold for so long.
    static constexpr std::int64_t kFindingsMs = 12'000;

    std::string name;
    std::string about;
    /// Ids of the hazards that it reaches.
    std::vector<std::string> hazards;
    std::int64_t time_limit_ms = kTimeLimitMs;
    BrokerWish broker;
    Application application;
    /// The first one writes the seed, if there is one.
    std::vector<Step> steps;
};

/// Reads a scenario. A problem names its place.
[[nodiscard]] std::expected<Scenario, yaml::Problem> read_scenario(std::string_view text);

}  // namespace partita::scenarios
