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

/// The config of an environment variable of an image: KAFKA_LOG_RETENTION_MS is log.retention.ms, "__" means "_" and "___" means
/// "-". KAFKA_CFG_LOG_RETENTION_MS of bitnami/kafka is the same config; there every "_" is a dot, except in names of protocols.
/// Null for other variables, and for those of an image, its JVM or Kubernetes (KAFKA_OPTS, KAFKA_HEAP_OPTS, KAFKA_LOG4J_...,
/// ...). CLUSTER_ID, which the image uses to format a new directory, is partita.cluster.id, as are KAFKA_CLUSTER_ID and
/// KAFKA_KRAFT_CLUSTER_ID.
[[nodiscard]] std::optional<std::string> config_name_of_environment(std::string_view variable);

/// The configs in an environment. Its items are "NAME=value".
[[nodiscard]] ConfigMap configs_of_environment(std::span<const std::string> environment);

/// Parses the "key=value" of an --override.
[[nodiscard]] std::expected<std::pair<std::string, std::string>, ConfigError> parse_override(std::string_view text);

}  // namespace partita::config
