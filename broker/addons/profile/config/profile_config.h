#pragma once

#include <expected>
#include <memory>
#include <optional>

#include "broker/config/broker_config.h"
#include "broker/config/config_definition.h"

/// `partita.profile` and its related configs: see core/profile.h.
namespace partita::profile {

class Profile;
inline constexpr const char* kProfileConfig = "partita.profile";
inline constexpr const char* kProfileTierConfig = "partita.profile.tier";
inline constexpr const char* kProfileAccessKeysConfig = "partita.profile.access.keys";
inline constexpr const char* kProfileNewerApiVersionsConfig = "partita.profile.newer.api.versions.enable";

/// Adds the profile's values for settings that are not given; nothing without a profile. Leaves invalid values to the checks.
void add_presets(config::ConfigMap& given);

/// Checks that the profile agrees with the other settings; without a profile, that none of its settings is set. `effective` has
/// valid values.
[[nodiscard]] std::expected<void, config::ConfigError> check_profile(const config::ConfigMap& effective);

/// The profile that the settings choose; null for none. `effective` was checked.
[[nodiscard]] std::shared_ptr<const Profile> profile_of(const config::ConfigMap& effective);
[[nodiscard]] std::shared_ptr<const Profile> profile_of(const config::BrokerConfig& config);

/// The limits on topics under the profile; null without one. `effective` was checked.
[[nodiscard]] std::optional<config::TopicLimits> topic_limits_of(const config::ConfigMap& effective);

}  // namespace partita::profile
