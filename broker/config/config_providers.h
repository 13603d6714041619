#pragma once

#include <expected>
#include <span>
#include <string>

#include "broker/config/config_definition.h"
#include "broker/config/config_sources.h"

namespace partita::config {

/// Replaces each `${PROVIDER:PATH:KEY}` in the values by what the provider says (KIP-297, KIP-421, KIP-632). `config.providers`
/// lists the providers, `config.providers.NAME.class` their classes, which must be Kafka's own: EnvVarConfigProvider
/// (`allowlist.pattern`), FileConfigProvider and DirectoryConfigProvider (`allowed.paths`). `environment` has items "NAME=value".
///
/// The error names the config and the variable. Kafka leaves a variable without a value in place; then a password would be the
/// name of the password. So this fails instead, also for the `${NAME}` of other programs, except in passwords.
[[nodiscard]] std::expected<void, ConfigError> resolve_variables(ConfigMap& given, std::span<const std::string> environment,
                                                                 const FileReader& read_file);

/// Fails if one of the values has a variable of a provider that `given` names. Kafka would ask the provider each time that it
/// reads its configs; this broker asks it at the start only, and a client must not take the name of a value for the value.
[[nodiscard]] std::expected<void, ConfigError> refuse_variables(const ConfigMap& values, const ConfigMap& given);

}  // namespace partita::config
