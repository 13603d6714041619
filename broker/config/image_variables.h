#pragma once

#include <expected>
#include <span>
#include <string>
#include <vector>

#include "broker/config/config_definition.h"
#include "broker/config/config_sources.h"

namespace partita::config {

/// The configs that the start scripts of Kafka's images (apache/kafka, confluentinc/cp-kafka, bitnami/kafka, wurstmeister/kafka)
/// make of an environment: those that the variables name (properties.h), and those that follow from them:
/// - `listeners` from KAFKA_ADVERTISED_LISTENERS, with the same names and ports on 0.0.0.0, if neither the environment nor `file`
/// has it;
/// - key stores and passwords in /etc/kafka/secrets from KAFKA_SSL_..._FILENAME and ..._CREDENTIALS;
/// - `partita.jaas.file` from -Djava.security.auth.login.config in KAFKA_OPTS;
/// - users and certificates from bitnami's KAFKA_CLIENT_USERS, KAFKA_INTER_BROKER_USER, KAFKA_TLS_... and so on;
/// - `partita.create.topics` from KAFKA_CREATE_TOPICS.
///
/// `environment` has items "NAME=value", `file` the configs of a server.properties. An error says which variable, setting or
/// listener is incomplete: the broker must not start without security that the environment asks for.
[[nodiscard]] std::expected<ConfigMap, ConfigError> configs_of_image(std::span<const std::string> environment,
                                                                     const ConfigMap& file, const FileReader& read_file);

/// Whether ALLOW_PLAINTEXT_LISTENER forbids listeners without logins and TLS.
[[nodiscard]] bool forbids_plaintext(std::span<const std::string> environment);

/// The endpoints "NAME://HOST:PORT,..." with another host.
[[nodiscard]] std::string with_host(std::string_view endpoints, std::string_view host);

}  // namespace partita::config
