#include "broker/addons/profile/config/profile_config.h"

#include <charconv>
#include <string>
#include <string_view>

#include "broker/addons/profile/core/profile.h"
#include "broker/config/broker_synonyms.h"
#include "broker/config/java_text.h"

namespace partita::config {
namespace {

constexpr std::string_view kUnitsConfig = "partita.capacity.units";
constexpr std::string_view kUnitsMaxConfig = "partita.capacity.units.max";

std::string text_of(const ConfigMap& effective, std::string_view name) {
    return std::get<std::string>(broker_value(effective, name));
}

std::int32_t number_of(const ConfigMap& effective, std::string_view name) {
    return std::get<std::int32_t>(broker_value(effective, name));
}

profile::Tier tier_of(const ConfigMap& effective) {
    return profile::parse_tier(text_of(effective, kProfileTierConfig)).value_or(profile::Tier::standard);
}

/// 0 for no number.
std::int32_t units_asked_for(const ConfigMap& given) {
    const auto found = given.find(kUnitsConfig);
    if (found == given.end()) {
        return 0;
    }
    const std::string_view text = java::trim(found->second);
    std::int32_t units = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), units);
    return error == std::errc() && end == text.data() + text.size() ? units : 0;
}

}  // namespace

void add_presets(ConfigMap& given) {
    const auto name = given.find(std::string_view(kProfileConfig));
    if (name == given.end() || java::trim(name->second) != profile::kEventHubs) {
        return;
    }
    const auto tier_name = given.find(std::string_view(kProfileTierConfig));
    const auto tier = tier_name == given.end() ? profile::Tier::standard : profile::parse_tier(java::trim(tier_name->second));
    if (!tier) {
        return;
    }
    // Nothing speaks between brokers: where the listener is the profile's choice, so is what stands for that.
    const bool chooses_listener = !given.contains("listeners");
    if (chooses_listener && !given.contains("inter.broker.listener.name")) {
        given.try_emplace("security.inter.broker.protocol", "SASL_PLAINTEXT");
    }
    for (const profile::Preset& preset : profile::presets(*tier, units_asked_for(given))) {
        given.try_emplace(preset.name, preset.value);
    }
}

std::expected<void, ConfigError> check_profile(const ConfigMap& effective) {
    const auto refuse = [](std::string message) { return std::unexpected(ConfigError{.message = std::move(message)}); };
    if (text_of(effective, kProfileConfig).empty()) {
        for (const std::string_view name : {kProfileTierConfig, kProfileAccessKeysConfig, kProfileNewerApiVersionsConfig}) {
            if (effective.contains(name)) {
                return refuse(std::string(name) + " is set and " + kProfileConfig + " is not: set " + kProfileConfig + "=" +
                              std::string(profile::kEventHubs));
            }
        }
        return {};
    }
    const auto objection = profile::objection(
        tier_of(effective),
        {.units = number_of(effective, kUnitsConfig),
         .units_max = number_of(effective, kUnitsMaxConfig),
         .retention_ms = std::get<std::int64_t>(topic_value_from_broker(*find_topic_config("retention.ms"), effective))});
    if (objection) {
        return refuse(*objection);
    }
    return {};
}

std::shared_ptr<const profile::Profile> profile_of(const ConfigMap& effective) {
    if (text_of(effective, kProfileConfig).empty()) {
        return nullptr;
    }
    return std::make_shared<const profile::Profile>(profile::Profile::Settings{
        .tier = tier_of(effective),
        .units = number_of(effective, kUnitsConfig),
        .answers_newer_api_versions = std::get<bool>(broker_value(effective, kProfileNewerApiVersionsConfig))});
}

}  // namespace partita::config
