#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/error_code.h"

namespace partita::config {

/// Names and texts of configs, in ascending order of names. Values are the original texts, not the canonical ones: Kafka stores
/// the client's text.
using ConfigMap = std::map<std::string, std::string, std::less<>>;

/// Why a config was refused, for the client or for the error line of a start. `message` is Kafka's text where Kafka has one.
struct [[nodiscard]] ConfigError {
    ErrorCode code = ErrorCode::invalid_config;
    std::string message;

    friend bool operator==(const ConfigError&, const ConfigError&) = default;
};

/// Value types with the numbers that DescribeConfigs puts on the wire.
enum class ConfigType : std::int8_t {
    unknown = 0,
    boolean = 1,
    string = 2,
    int32 = 3,
    int16 = 4,
    int64 = 5,
    float64 = 6,
    list = 7,
    class_name = 8,
    password = 9,
};

/// The source of a value, with the numbers that DescribeConfigs puts on the wire.
enum class ConfigSource : std::int8_t {
    unknown = 0,
    topic_config = 1,
    dynamic_broker_config = 2,
    dynamic_default_broker_config = 3,
    static_broker_config = 4,
    default_config = 5,
    dynamic_broker_logger_config = 6,
    client_metrics_config = 7,
    group_config = 8,
};

/// Whether a broker config may change while the broker runs.
enum class UpdateMode : std::uint8_t {
    read_only,     ///< only in server.properties, a restart is needed
    per_broker,    ///< for one broker, by its id
    cluster_wide,  ///< for one broker or as the default of all
};

/// The effect of a config. The broker also accepts, checks, stores and describes it like Kafka.
enum class ConfigEffect : std::uint8_t {
    kept,      ///< none
    at_start,  ///< the broker uses the value of its start; a change takes effect at the next start
    at_once,   ///< the broker follows changes while it runs
};

/// A parsed value. `std::monostate` is Kafka's null (no value and no default). Classes and passwords are strings. The ConfigType
/// alone determines the alternative.
using ConfigValue =
    std::variant<std::monostate, bool, std::int16_t, std::int32_t, std::int64_t, double, std::string, std::vector<std::string>>;

/// The check of a value beyond its type.
enum class ValidatorKind : std::uint8_t {
    none,
    range,                 ///< `minimum` and `maximum`, either may be absent
    one_of,                ///< exactly one of `choices`
    one_of_ignoring_case,  ///< one of `choices`, any case
    list_of,               ///< each item one of `choices` (no choices: any); see `list_may_be_empty`
    non_empty_string,
    non_null,
    gzip_level,                ///< 1 to 9, or -1
    throttled_replicas,        ///< "*" or partition:broker,partition:broker
    quorum_voters,             ///< id@host:port,...
    quorum_bootstrap_servers,  ///< host:port,...
};

struct Validator {
    ValidatorKind kind = ValidatorKind::none;
    std::optional<double> minimum{};  ///< compared as doubles, as Kafka does, also for 64-bit integers
    std::optional<double> maximum{};
    std::span<const std::string_view> choices{};
    bool list_may_be_empty = true;
    bool list_may_be_null = false;
};

/// One config as Kafka 4.3.1 (or, for names that start with "partita.", this broker) defines it.
struct ConfigDefinition {
    std::string_view name;
    ConfigType type = ConfigType::string;
    /// Canonical text of the default; empty means null, see `required`.
    std::optional<std::string_view> default_value;
    Validator validator{};
    /// True for configs that are described only if they were given: Kafka's internal ones, and those that exist only dynamically.
    bool internal = false;
    /// True if Kafka defines no default and does not start without a value. This broker has a default (for node.id, for example).
    bool required = false;
    UpdateMode update_mode = UpdateMode::read_only;
    ConfigEffect effect = ConfigEffect::at_start;
    /// One or two plain sentences.
    std::string_view documentation;

    /// Kafka never returns the values of passwords.
    [[nodiscard]] bool is_sensitive() const { return type == ConfigType::password; }
};

/// How to convert the number of a broker config to the number of its topic config.
enum class SynonymConversion : std::uint8_t { none, hours_to_ms, minutes_to_ms };

/// A broker config whose value a topic config takes if the topic has none of its own.
struct ConfigSynonym {
    std::string_view broker_config;
    SynonymConversion conversion = SynonymConversion::none;
};

struct TopicConfigDefinition {
    ConfigDefinition definition;
    /// In order of precedence: the first one with a value wins. Empty for topic-only configs.
    std::span<const ConfigSynonym> broker_synonyms;
};

/// All broker configs, Kafka's and ours, ascending by name.
[[nodiscard]] std::span<const ConfigDefinition> broker_config_definitions();
/// All topic configs, ascending by name.
[[nodiscard]] std::span<const TopicConfigDefinition> topic_config_definitions();

/// Null if the name is unknown. The pointers live as long as the program.
[[nodiscard]] const ConfigDefinition* find_broker_config(std::string_view name);
[[nodiscard]] const TopicConfigDefinition* find_topic_config(std::string_view name);

/// Parses the text of a value and validates it. A null text is valid where the definition allows it. Errors carry Kafka's texts,
/// for example "Invalid value x for configuration num.partitions: Not a number of type INT" and "Invalid value 0 for
/// configuration num.partitions: Value must be at least 1".
[[nodiscard]] std::expected<ConfigValue, ConfigError> parse_config_value(const ConfigDefinition& definition,
                                                                         std::optional<std::string_view> text);

/// Parses the text of a value without validating it: only type errors are possible.
[[nodiscard]] std::expected<ConfigValue, ConfigError> parse_config_type(std::string_view name, ConfigType type,
                                                                        std::string_view text);

/// Kafka's text of a value (lists joined by ",", doubles as Java prints them); empty for null.
[[nodiscard]] std::optional<std::string> config_value_text(const ConfigValue& value);

/// The allowed values in words, for errors of a start: "an integer of at least 1", "one of: a, b".
[[nodiscard]] std::string allowed_values(const ConfigDefinition& definition);

}  // namespace partita::config
