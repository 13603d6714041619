#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "broker/config/config_definition.h"

namespace partita::config {

/// Reads the syntax of Java's Properties: "key=value", "key: value", "key value", comments with # and !, continuation lines,
/// \t \n \r \f \uXXXX and escaped separators. The last of duplicate keys wins. The input is UTF-8. The error names the line of a
/// malformed \u escape.
[[nodiscard]] std::expected<ConfigMap, ConfigError> parse_properties(std::string_view text);

/// The config that an environment variable of the official Docker image sets: KAFKA_LOG_RETENTION_MS is
/// log.retention.ms, "__" stands for "_" and "___" for "-". Null for variables of other names and for
/// those that belong to the image or its JVM (KAFKA_OPTS, KAFKA_HEAP_OPTS, KAFKA_LOG4J_..., ...). CLUSTER_ID, with
/// which the image formats a new directory, is partita.cluster.id.
[[nodiscard]] std::optional<std::string> config_name_of_environment(std::string_view variable);

/// The configs that an environment sets. Its items are "NAME=value".
[[nodiscard]] ConfigMap configs_of_environment(std::span<const std::string> environment);

/// Parses the "key=value" of an --override.
[[nodiscard]] std::expected<std::pair<std::string, std::string>, ConfigError> parse_override(std::string_view text);

}  // namespace partita::config
