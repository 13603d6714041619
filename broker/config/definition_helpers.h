#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "broker/config/config_definition.h"

/// Short names and functions only for the definition tables.
namespace partita::config {

inline constexpr std::nullopt_t kNone = std::nullopt;
/// The default is that of the broker config from which the topic config takes its value.
inline constexpr std::nullopt_t kOfBroker = std::nullopt;
inline constexpr UpdateMode kReadOnly = UpdateMode::read_only;
inline constexpr UpdateMode kPerBroker = UpdateMode::per_broker;
inline constexpr UpdateMode kClusterWide = UpdateMode::cluster_wide;

inline constexpr std::string_view kCleanupPolicies[] = {"compact", "delete"};
inline constexpr std::string_view kCompressionTypes[] = {"uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"};
inline constexpr std::string_view kTimestampTypes[] = {"CreateTime", "LogAppendTime"};
inline constexpr std::string_view kExpansionModes[] = {"faithful", "safe-offsets", "guarded", "fenced"};
inline constexpr std::string_view kHttpOpen[] = {"", "health", "all"};
inline constexpr std::string_view kSecurityProtocols[] = {"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"};
inline constexpr std::string_view kMigrationPolicies[] = {"DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL"};
inline constexpr std::string_view kRebalanceProtocols[] = {"consumer", "classic", "share", "streams"};
inline constexpr std::string_view kProcessRoles[] = {"broker", "controller"};
inline constexpr std::string_view kClientAuth[] = {"required", "requested", "none"};
inline constexpr std::string_view kAssertionAlgorithms[] = {"ES256", "RS256"};

inline constexpr Validator kAny{};
inline constexpr Validator kNonEmpty{.kind = ValidatorKind::non_empty_string};
inline constexpr Validator kNonNull{.kind = ValidatorKind::non_null};
inline constexpr Validator kGzipLevel{.kind = ValidatorKind::gzip_level};
inline constexpr Validator kThrottledReplicas{.kind = ValidatorKind::throttled_replicas};
inline constexpr Validator kQuorumVoters{.kind = ValidatorKind::quorum_voters};
inline constexpr Validator kQuorumBootstrapServers{.kind = ValidatorKind::quorum_bootstrap_servers};

constexpr Validator range(double minimum) { return {.kind = ValidatorKind::range, .minimum = minimum}; }
constexpr Validator range(double minimum, double maximum) {
    return {.kind = ValidatorKind::range, .minimum = minimum, .maximum = maximum};
}
constexpr Validator one_of(std::span<const std::string_view> choices) {
    return {.kind = ValidatorKind::one_of, .choices = choices};
}
constexpr Validator one_of_ignoring_case(std::span<const std::string_view> choices) {
    return {.kind = ValidatorKind::one_of_ignoring_case, .choices = choices};
}
constexpr Validator list_of(std::span<const std::string_view> choices, bool may_be_empty, bool may_be_null) {
    return {
        .kind = ValidatorKind::list_of, .choices = choices, .list_may_be_empty = may_be_empty, .list_may_be_null = may_be_null};
}

constexpr ConfigDefinition define(std::string_view name, ConfigType type, std::optional<std::string_view> default_value,
                                  Validator validator, UpdateMode update_mode, std::string_view documentation) {
    return {.name = name,
            .type = type,
            .default_value = default_value,
            .validator = validator,
            .update_mode = update_mode,
            .effect = update_mode == kReadOnly ? ConfigEffect::at_start : ConfigEffect::at_once,
            .documentation = documentation};
}
constexpr ConfigDefinition internal(std::string_view name, ConfigType type, std::optional<std::string_view> default_value,
                                    Validator validator, UpdateMode update_mode, std::string_view documentation) {
    ConfigDefinition definition = define(name, type, default_value, validator, update_mode, documentation);
    definition.internal = true;
    return definition;
}
/// A config without an effect.
constexpr ConfigDefinition kept(ConfigDefinition definition) {
    definition.effect = ConfigEffect::kept;
    return definition;
}
/// A config that can be changed at run time, and takes effect at the next start.
constexpr ConfigDefinition at_next_start(ConfigDefinition definition) {
    definition.effect = ConfigEffect::at_start;
    return definition;
}
constexpr ConfigDefinition required(std::string_view name, ConfigType type, std::optional<std::string_view> default_value,
                                    Validator validator, UpdateMode update_mode, std::string_view documentation) {
    ConfigDefinition definition = define(name, type, default_value, validator, update_mode, documentation);
    definition.required = true;
    return definition;
}

}  // namespace partita::config
