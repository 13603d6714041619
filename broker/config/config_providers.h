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

}  // namespace partita::config
