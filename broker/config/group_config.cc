#include "broker/config/group_config.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "broker/config/config_refusal.h"
#include "broker/config/definition_helpers.h"
#include "broker/config/java_text.h"
#include "protocol/assert.h"
#include "protocol/try.h"

namespace partita::config {
namespace {

constexpr std::string_view kIsolationLevels[] = {"read_committed", "read_uncommitted"};
constexpr std::string_view kOffsetReset = "share.auto.offset.reset";

// Ascending by name; facts of Apache Kafka 4.3.1. A config with a broker config takes its default from that one.
constexpr GroupConfigDefinition kTable[] = {
    {define("consumer.assignment.interval.ms", ConfigType::int32, kOfBroker, range(0), kClusterWide,
            "Shortest time between two assignments of a consumer group."),
     "group.consumer.assignment.interval.ms", "group.consumer.min.assignment.interval.ms",
     "group.consumer.max.assignment.interval.ms"},
    {define("consumer.heartbeat.interval.ms", ConfigType::int32, kOfBroker, range(1), kClusterWide,
            "How often members of a consumer group are told to send a heartbeat."),
     "group.consumer.heartbeat.interval.ms", "group.consumer.min.heartbeat.interval.ms",
     "group.consumer.max.heartbeat.interval.ms"},
    {define("consumer.session.timeout.ms", ConfigType::int32, kOfBroker, range(1), kClusterWide,
            "After how long without a heartbeat a member of a consumer group counts as gone."),
     "group.consumer.session.timeout.ms", "group.consumer.min.session.timeout.ms", "group.consumer.max.session.timeout.ms"},
    {define("share.assignment.interval.ms", ConfigType::int32, kOfBroker, range(0), kClusterWide,
            "Shortest time between two assignments of a share group."),
     "group.share.assignment.interval.ms", "group.share.min.assignment.interval.ms", "group.share.max.assignment.interval.ms"},
    {define(kOffsetReset, ConfigType::string, "latest", kAny, kClusterWide,
            "Where a share group starts in a partition: earliest, latest or by_duration:PERIOD."),
     "", "", ""},
    {define("share.delivery.count.limit", ConfigType::int32, kOfBroker, range(1), kClusterWide,
            "How often a record is delivered to a share group at most."),
     "group.share.delivery.count.limit", "group.share.min.delivery.count.limit", "group.share.max.delivery.count.limit"},
    {define("share.heartbeat.interval.ms", ConfigType::int32, kOfBroker, range(1), kClusterWide,
            "How often members of a share group are told to send a heartbeat."),
     "group.share.heartbeat.interval.ms", "group.share.min.heartbeat.interval.ms", "group.share.max.heartbeat.interval.ms"},
    {define("share.isolation.level", ConfigType::string, "read_uncommitted", one_of(kIsolationLevels), kClusterWide,
            "Whether a share group sees records of transactions that are not committed."),
     "", "", ""},
    {define("share.partition.max.record.locks", ConfigType::int32, kOfBroker, range(1), kClusterWide,
            "Records of a partition that a share group may have in delivery."),
     "group.share.partition.max.record.locks", "group.share.min.partition.max.record.locks",
     "group.share.max.partition.max.record.locks"},
    {define("share.record.lock.duration.ms", ConfigType::int32, kOfBroker, range(1000), kClusterWide,
            "How long a record in delivery is kept from other members of a share group."),
     "group.share.record.lock.duration.ms", "group.share.min.record.lock.duration.ms", "group.share.max.record.lock.duration.ms"},
    {define("share.renew.acknowledge.enable", ConfigType::boolean, "true", kAny, kClusterWide,
            "Whether members of a share group may ask for more time for a record."),
     "", "", ""},
    {define("share.session.timeout.ms", ConfigType::int32, kOfBroker, range(1), kClusterWide,
            "After how long without a heartbeat a member of a share group counts as gone."),
     "group.share.session.timeout.ms", "group.share.min.session.timeout.ms", "group.share.max.session.timeout.ms"},
    {kept(define("streams.assignment.interval.ms", ConfigType::int32, kOfBroker, range(0), kClusterWide,
                 "Shortest time between two assignments of a streams group.")),
     "group.streams.assignment.interval.ms", "group.streams.min.assignment.interval.ms",
     "group.streams.max.assignment.interval.ms"},
    {kept(define("streams.heartbeat.interval.ms", ConfigType::int32, kOfBroker, range(1), kClusterWide,
                 "How often members of a streams group are told to send a heartbeat.")),
     "group.streams.heartbeat.interval.ms", "group.streams.min.heartbeat.interval.ms", "group.streams.max.heartbeat.interval.ms"},
    {kept(define("streams.initial.rebalance.delay.ms", ConfigType::int32, kOfBroker, range(0), kClusterWide,
                 "How long a new streams group waits for more members.")),
     "group.streams.initial.rebalance.delay.ms", "", ""},
    {kept(define("streams.num.standby.replicas", ConfigType::int32, kOfBroker, range(0), kClusterWide,
                 "Standby copies of each task of a streams group.")),
     "group.streams.num.standby.replicas", "", "group.streams.max.standby.replicas"},
    {kept(define("streams.session.timeout.ms", ConfigType::int32, kOfBroker, range(1), kClusterWide,
                 "After how long without a heartbeat a member of a streams group counts as gone.")),
     "group.streams.session.timeout.ms", "group.streams.min.session.timeout.ms", "group.streams.max.session.timeout.ms"},
};

/// Members must be able to miss a heartbeat: for each kind of group the timeout must exceed the interval.
constexpr struct {
    std::string_view timeout;
    std::string_view interval;
} kSessions[] = {
    {"consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"},
    {"share.session.timeout.ms", "share.heartbeat.interval.ms"},
    {"streams.session.timeout.ms", "streams.heartbeat.interval.ms"},
};

std::optional<std::int32_t> bound(const BrokerConfig& broker, std::string_view name) {
    if (name.empty()) {
        return std::nullopt;
    }
    return std::get<std::int32_t>(broker.value(name));
}

}  // namespace

std::optional<OffsetReset> parse_offset_reset(std::string_view text) {
    constexpr std::string_view kByDuration = "by_duration:p";
    constexpr std::pair<char, std::int64_t> kUnits[] = {{'d', 86'400'000}, {'h', 3'600'000}, {'m', 60'000}, {'s', 1'000}};
    const std::string lower = java::to_lower(text);
    if (lower == "earliest" || lower == "latest") {
        return OffsetReset{.kind = lower == "earliest" ? OffsetReset::Kind::earliest : OffsetReset::Kind::latest};
    }
    if (!lower.starts_with(kByDuration)) {
        return std::nullopt;
    }
    OffsetReset reset{.kind = OffsetReset::Kind::by_duration};
    std::string_view rest = std::string_view(lower).substr(kByDuration.size());
    // The units that may follow.
    std::string_view units = "d";
    bool has_amount = false;
    while (!rest.empty()) {
        if (rest.front() == 't' && units.size() <= 1) {
            units = "hms";
            rest.remove_prefix(1);
            continue;
        }
        const std::size_t digits = rest.find_first_not_of("0123456789.");
        if (digits == 0 || digits == rest.npos) {
            return std::nullopt;
        }
        const std::string amount(rest.substr(0, digits));
        const std::size_t unit = units.find(rest[digits]);
        if (unit == units.npos || (amount.contains('.') && rest[digits] != 's')) {
            return std::nullopt;
        }
        const auto* const known = std::ranges::find(kUnits, rest[digits], [](const auto& each) { return each.first; });
        reset.duration_ms += static_cast<std::int64_t>(std::strtod(amount.c_str(), nullptr) * static_cast<double>(known->second));
        units.remove_prefix(unit + 1);
        rest.remove_prefix(digits + 1);
        has_amount = true;
    }
    return has_amount ? std::optional(reset) : std::nullopt;
}

std::span<const GroupConfigDefinition> group_config_definitions() {
    static const std::vector<GroupConfigDefinition> kAll = [] {
        std::vector<GroupConfigDefinition> all(std::begin(kTable), std::end(kTable));
        for (GroupConfigDefinition& group : all) {
            if (!group.broker_config.empty()) {
                group.definition.default_value = find_broker_config(group.broker_config)->default_value;
            }
        }
        return all;
    }();
    return kAll;
}

const GroupConfigDefinition* find_group_config(std::string_view name) {
    const std::span<const GroupConfigDefinition> all = group_config_definitions();
    const auto found = std::ranges::find(all, name, [](const auto& item) { return item.definition.name; });
    return found == all.end() ? nullptr : &*found;
}

std::expected<void, ConfigError> validate_group_configs(const ConfigMap& overrides, const BrokerConfig& broker) {
    for (const auto& [name, text] : overrides) {
        if (find_group_config(name) == nullptr) {
            return invalid_config("Unknown group config name: " + name);
        }
    }
    std::map<std::string_view, std::int32_t> numbers;
    for (const auto& [name, text] : overrides) {
        const ConfigDefinition& definition = find_group_config(name)->definition;
        PARTITA_TRY_ASSIGN(const auto value, parse_config_value(definition, text));
        if (name == kOffsetReset && !parse_offset_reset(text)) {
            return invalid_config("Invalid value " + text + " for configuration " + name + ": Invalid value `" + text +
                                  "` for configuration " + name +
                                  ". The value must be either 'earliest', 'latest' or of the format "
                                  "'by_duration:<PnDTnHnMn.nS>'.");
        }
        if (definition.type == ConfigType::int32) {
            numbers.emplace(name, std::get<std::int32_t>(value));
        }
    }
    for (const auto& [name, number] : numbers) {
        const GroupConfigDefinition& definition = *find_group_config(name);
        if (const auto least = bound(broker, definition.minimum_config); least && number < *least) {
            return invalid_config(std::string(name) + " must be greater than or equal to " +
                                  std::string(definition.minimum_config));
        }
        if (const auto most = bound(broker, definition.maximum_config); most && number > *most) {
            return invalid_config(std::string(name) + " must be less than or equal to " + std::string(definition.maximum_config));
        }
    }
    // A config without an override uses the broker's value, even if no session config was changed.
    const auto effective = [&](std::string_view name) {
        const auto own = numbers.find(name);
        return own != numbers.end() ? own->second : std::get<std::int32_t>(group_config_value({}, broker, name));
    };
    for (const auto& session : kSessions) {
        if (effective(session.timeout) <= effective(session.interval)) {
            return invalid_config(std::string(session.timeout) + " must be greater than " + std::string(session.interval));
        }
    }
    return {};
}

ConfigValue group_config_value(const ConfigMap& overrides, const BrokerConfig& broker, std::string_view name) {
    const GroupConfigDefinition* definition = find_group_config(name);
    PARTITA_ASSERT(definition != nullptr, "only defined configs are asked for");
    if (const auto own = overrides.find(name); own != overrides.end()) {
        if (auto value = parse_config_value(definition->definition, own->second)) {
            if (std::int32_t* number = std::get_if<std::int32_t>(&*value)) {
                *number = std::max(*number, bound(broker, definition->minimum_config).value_or(*number));
                *number = std::min(*number, bound(broker, definition->maximum_config).value_or(*number));
            }
            return std::move(*value);
        }
    }
    if (!definition->broker_config.empty()) {
        return broker.value(definition->broker_config);
    }
    return parse_config_value(definition->definition, definition->definition.default_value).value_or(ConfigValue{});
}

std::vector<ConfigEntry> describe_group_configs(const ConfigMap& overrides, const BrokerConfig& broker,
                                                const DescribeOptions& options) {
    std::vector<ConfigEntry> entries;
    for (const GroupConfigDefinition& group : group_config_definitions()) {
        const ConfigDefinition& definition = group.definition;
        if (!is_described(options, definition.name)) {
            continue;
        }
        ConfigEntry entry{.name = std::string(definition.name), .type = definition.type};
        std::vector<SynonymEntry> synonyms;
        if (group.broker_config.empty()) {
            synonyms.push_back({entry.name, std::string(*definition.default_value), ConfigSource::default_config});
        } else {
            synonyms = describe_broker_synonyms(broker, group.broker_config);
        }
        if (const auto own = overrides.find(definition.name); own != overrides.end()) {
            entry.value = own->second;
            synonyms.insert(synonyms.begin(), {entry.name, own->second, ConfigSource::group_config});
        } else {
            entry.value = config_value_text(group_config_value(overrides, broker, definition.name));
        }
        if (options.include_documentation) {
            entry.documentation = documentation_of(definition);
        }
        entries.push_back(with_synonyms(std::move(entry), std::move(synonyms), options));
    }
    return entries;
}

}  // namespace partita::config
