#include "broker/config/client_metrics_config.h"

#include <algorithm>

#include "broker/config/config_refusal.h"
#include "broker/config/definition_helpers.h"
#include "broker/config/java_text.h"
#include "protocol/try.h"

namespace partita::config {
namespace {

constexpr std::string_view kInterval = "interval.ms";
constexpr std::string_view kMatch = "match";
constexpr std::int32_t kShortestInterval_ms = 100;
constexpr std::int32_t kLongestInterval_ms = 3600000;

// Ascending by name; facts of Apache Kafka 4.3.1.
constexpr ConfigDefinition kSubscriptionConfigs[] = {
    kept(define(kInterval, ConfigType::int32, "300000", kAny, kClusterWide, "How often clients send metrics.")),
    kept(define(kMatch, ConfigType::list, "", kAny, kClusterWide,
                "Which clients are meant, as selector=pattern items; none means all.")),
    kept(define("metrics", ConfigType::list, "", kAny, kClusterWide, "Prefixes of the names of metrics to send.")),
};

constexpr std::string_view kSelectors[] = {
    "client_id",         "client_instance_id", "client_software_name", "client_software_version", "client_source_address",
    "client_source_port"};

const ConfigDefinition* find_definition(std::string_view name) {
    const auto found = std::ranges::find(kSubscriptionConfigs, name, &ConfigDefinition::name);
    return found == std::end(kSubscriptionConfigs) ? nullptr : &*found;
}

bool is_client_pattern(std::string_view item, FunctionRef<bool(std::string_view)> is_regex) {
    const std::size_t equals = item.find('=');
    if (equals == item.npos) {
        return false;
    }
    const std::string_view selector = java::trim(item.substr(0, equals));
    return std::ranges::find(kSelectors, selector) != std::end(kSelectors) && is_regex(java::trim(item.substr(equals + 1)));
}

}  // namespace

std::expected<void, ConfigError> validate_client_metrics_configs(std::string_view subscription, const ConfigMap& overrides,
                                                                 FunctionRef<bool(std::string_view)> is_regex) {
    if (subscription.empty()) {
        return refusal(ErrorCode::invalid_request, "Subscription name can't be empty");
    }
    for (const auto& [name, text] : overrides) {
        const ConfigDefinition* definition = find_definition(name);
        if (definition == nullptr) {
            return refusal(ErrorCode::invalid_request, "Unknown client metrics configuration: " + name);
        }
        PARTITA_TRY_ASSIGN(const auto value, parse_config_value(*definition, text));
        if (name == kInterval) {
            const std::int32_t interval_ms = std::get<std::int32_t>(value);
            if (interval_ms < kShortestInterval_ms || interval_ms > kLongestInterval_ms) {
                return refusal(ErrorCode::invalid_request, "Invalid value " + text +
                                                               " for interval.ms, interval must be between 100 and 3600000 "
                                                               "(1 hour)");
            }
        }
        if (name == kMatch) {
            for (const std::string& item : std::get<std::vector<std::string>>(value)) {
                if (!is_client_pattern(item, is_regex)) {
                    return refusal(ErrorCode::invalid_config, "Illegal client matching pattern: " + item);
                }
            }
        }
    }
    return {};
}

std::vector<ConfigEntry> describe_client_metrics_configs(const ConfigMap& overrides, const DescribeOptions& options) {
    std::vector<ConfigEntry> entries;
    for (const ConfigDefinition& definition : kSubscriptionConfigs) {
        if (!is_described(options, definition.name)) {
            continue;
        }
        ConfigEntry entry{
            .name = std::string(definition.name), .value = std::string(*definition.default_value), .type = definition.type};
        std::vector<SynonymEntry> synonyms;
        if (const auto own = overrides.find(definition.name); own != overrides.end()) {
            entry.value = own->second;
            synonyms.push_back({entry.name, own->second, ConfigSource::client_metrics_config});
        }
        if (options.include_documentation) {
            entry.documentation = documentation_of(definition);
        }
        entries.push_back(with_synonyms(std::move(entry), std::move(synonyms), options));
    }
    return entries;
}

}  // namespace partita::config
