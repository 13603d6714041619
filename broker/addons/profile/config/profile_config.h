#pragma once

#include <expected>
#include <memory>
#include <optional>

#include "broker/config/broker_config.h"
#include "broker/config/config_definition.h"

/// `partita.profile` and what belongs to it: see core/profile.h.
namespace partita::profile {

class Profile;
inline constexpr const char* kProfileConfig = "partita.profile";
inline constexpr const char* kProfileTierConfig = "partita.profile.tier";
inline constexpr const char* kProfileAccessKeysConfig = "partita.profile.access.keys";
inline constexpr const char* kProfileNewerApiVersionsConfig = "partita.profile.newer.api.versions.enable";

/// Adds what the profile says and nobody else does; nothing without a profile. Values that are none are left for the checks.
void add_presets(config::ConfigMap& given);

/// Whether the profile goes with the other settings; without one, that nobody has set anything of it. `effective` has valid
/// values.
[[nodiscard]] std::expected<void, config::ConfigError> check_profile(const config::ConfigMap& effective);

/// The profile that the settings choose; null for none. `effective` was checked.
[[nodiscard]] std::shared_ptr<const Profile> profile_of(const config::ConfigMap& effective);
[[nodiscard]] std::shared_ptr<const Profile> profile_of(const config::BrokerConfig& config);

/// What topics there may be under the profile; null without one. `effective` was checked.
[[nodiscard]] std::optional<config::TopicLimits> topic_limits_of(const config::ConfigMap& effective);

}  // namespace partita::profile
