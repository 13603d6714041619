#include "broker/addons/profile/config/profile_config.h"

#include <charconv>
#include <string>
#include <string_view>

#include "broker/addons/profile/core/profile.h"
#include "broker/config/broker_synonyms.h"
#include "broker/config/java_text.h"

namespace partita::profile {
namespace {

constexpr std::string_view kUnitsConfig = "partita.capacity.units";
constexpr std::string_view kUnitsMaxConfig = "partita.capacity.units.max";

std::string text_of(const config::ConfigMap& effective, std::string_view name) {
    return std::get<std::string>(config::broker_value(effective, name));
}

std::int32_t number_of(const config::ConfigMap& effective, std::string_view name) {
    return std::get<std::int32_t>(config::broker_value(effective, name));
}

Tier tier_of(const config::ConfigMap& effective) {
    return parse_tier(text_of(effective, kProfileTierConfig)).value_or(Tier::standard);
}

/// 0 if it is not a number.
std::int32_t units_asked_for(const config::ConfigMap& given) {
    const auto found = given.find(kUnitsConfig);
    if (found == given.end()) {
        return 0;
    }
    const std::string_view text = config::java::trim(found->second);
    std::int32_t units = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), units);
    return error == std::errc() && end == text.data() + text.size() ? units : 0;
}

}  // namespace

void add_presets(config::ConfigMap& given) {
    const auto name = given.find(std::string_view(kProfileConfig));
    if (name == given.end() || config::java::trim(name->second) != kEventHubs) {
        return;
    }
    const auto tier_name = given.find(std::string_view(kProfileTierConfig));
    const auto tier = tier_name == given.end() ? Tier::standard : parse_tier(config::java::trim(tier_name->second));
    if (!tier) {
        return;
    }
    // Brokers do not talk to each other here. If the profile chooses the listener, it also chooses the setting for that.
    const bool chooses_listener = !given.contains("listeners");
    if (chooses_listener && !given.contains("inter.broker.listener.name")) {
        given.try_emplace("security.inter.broker.protocol", "SASL_PLAINTEXT");
    }
    for (const Preset& preset : presets(*tier, units_asked_for(given))) {
        given.try_emplace(preset.name, preset.value);
    }
}

std::expected<void, config::ConfigError> check_profile(const config::ConfigMap& effective) {
    const auto refuse = [](std::string message) { return std::unexpected(config::ConfigError{.message = std::move(message)}); };
    if (text_of(effective, kProfileConfig).empty()) {
        for (const std::string_view name : {kProfileTierConfig, kProfileAccessKeysConfig, kProfileNewerApiVersionsConfig}) {
            if (effective.contains(name)) {
                return refuse(std::string(name) + " is set but " + kProfileConfig + " is not: set " + kProfileConfig + "=" +
                              std::string(kEventHubs));
            }
        }
        return {};
    }
    const auto problem = objection(tier_of(effective), {.units = number_of(effective, kUnitsConfig),
                                                        .units_max = number_of(effective, kUnitsMaxConfig),
                                                        .retention_ms = std::get<std::int64_t>(config::topic_value_from_broker(
                                                            *config::find_topic_config("retention.ms"), effective))});
    if (problem) {
        return refuse(*problem);
    }
    return {};
}

std::shared_ptr<const Profile> profile_of(const config::ConfigMap& effective) {
    if (text_of(effective, kProfileConfig).empty()) {
        return nullptr;
    }
    return std::make_shared<const Profile>(Profile::Settings{
        .tier = tier_of(effective),
        .units = number_of(effective, kUnitsConfig),
        .answers_newer_api_versions = std::get<bool>(config::broker_value(effective, kProfileNewerApiVersionsConfig))});
}

std::shared_ptr<const Profile> profile_of(const config::BrokerConfig& config) {
    return profile_of(config::effective_broker_values(config.given(), config.dynamic()));
}

std::optional<config::TopicLimits> topic_limits_of(const config::ConfigMap& effective) {
    const std::shared_ptr<const Profile> profile = profile_of(effective);
    if (!profile) {
        return std::nullopt;
    }
    const NamespaceLimits limits = profile->limits();
    return config::TopicLimits{.of = profile->offer(),
                               .topics = limits.topics,
                               .partitions_of_topic = limits.partitions_of_topic,
                               .partitions = limits.partitions,
                               .retention_ms = limits.retention_ms,
                               .adds_partitions = limits.adds_partitions};
}

}  // namespace partita::profile
