#pragma once

#include <expected>
#include <memory>

#include "broker/config/config_definition.h"

/// `partita.profile` and what belongs to it: see profile/profile.h.
namespace partita::profile {
class Profile;
}

namespace partita::config {

inline constexpr const char* kProfileConfig = "partita.profile";
inline constexpr const char* kProfileTierConfig = "partita.profile.tier";
inline constexpr const char* kProfileAccessKeysConfig = "partita.profile.access.keys";
inline constexpr const char* kProfileNewerApiVersionsConfig = "partita.profile.newer.api.versions.enable";

/// Adds what the profile says and nobody else does; nothing without a profile. Values that are none are left for the checks.
void add_presets(ConfigMap& given);

/// Whether the profile goes with the other settings; without one, that nobody has set anything of it. `effective` has valid
/// values.
[[nodiscard]] std::expected<void, ConfigError> check_profile(const ConfigMap& effective);

/// The profile that the settings choose; null for none. `effective` was checked.
[[nodiscard]] std::shared_ptr<const profile::Profile> profile_of(const ConfigMap& effective);

}  // namespace partita::config
