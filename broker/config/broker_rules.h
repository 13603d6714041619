#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/config/config_definition.h"
#include "broker/config/listeners.h"

namespace partita::config {

struct BrokerConfig;

/// Checks types, ranges and the rules between configs. Kafka does so before it starts, and again before it accepts a dynamic
/// config. The error has Kafka's text (those of its `require` begin with "requirement failed: "). `effective` has the given
/// values; undefined names are ignored.
[[nodiscard]] std::expected<void, ConfigError> check_broker_values(const ConfigMap& effective);

/// The directories for data: `log.dirs`, else `log.dir`.
[[nodiscard]] std::vector<std::string> log_directories(const ConfigMap& effective);

/// Parses `max.connections.per.ip.overrides`: host:count,...
[[nodiscard]] std::expected<std::vector<std::pair<std::string, std::int32_t>>, ConfigError> parse_connection_overrides(
    std::string_view text);

/// Parses "NAME:VALUE,..." like Kafka's maps. A later key replaces an earlier one. The error names `config`.
[[nodiscard]] std::expected<std::vector<std::pair<std::string, std::string>>, ConfigError> parse_map(std::string_view config,
                                                                                                     std::string_view text);

/// Parses "host:port", "[v6]:port" or ":port". Empty for anything else.
[[nodiscard]] std::optional<AdvertisedAddress> parse_host_and_port(std::string_view text);

/// The address of the HTTP side's listener.
struct HttpListener {
    AdvertisedAddress address;
    bool has_tls = false;
};
/// Parses "host:port" with or without "http://" or "https://" before it. Empty for anything else.
[[nodiscard]] std::optional<HttpListener> parse_http_listener(std::string_view text);
/// Whether the HTTP side may listen on its address: beyond this machine it needs a token and TLS, unless settings allow it
/// without. The error lists the possible settings. The start calls this (load_broker_config).
[[nodiscard]] std::expected<void, ConfigError> check_http(const BrokerConfig& config);

/// True if a log directory (written as in the config) takes no new partitions: `cordoned.log.dirs` (KIP-1066).
[[nodiscard]] bool is_cordoned(const BrokerConfig& config, std::string_view directory);

/// The settings of Kafka's StandardAuthorizer besides the ACLs. Kafka does not define them as configs: its authorizer reads them
/// from the file itself. So they have no dynamic value, and DescribeConfigs hides their value.
struct AuthorizerSettings {
    /// `super.users`: "User:admin".
    std::vector<std::string> super_users;
    /// `allow.everyone.if.no.acl.found`
    bool allow_everyone_if_no_acl_found = false;

    friend bool operator==(const AuthorizerSettings&, const AuthorizerSettings&) = default;
};

/// True for the names of these settings.
[[nodiscard]] bool is_of_authorizer(std::string_view name);

/// The settings among the values given at the start; empty if `authorizer.class.name` is empty, in which case the others have no
/// effect. Fails for a class other than StandardAuthorizer, or a principal without a colon. The start calls this
/// (load_broker_config).
[[nodiscard]] std::expected<std::optional<AuthorizerSettings>, ConfigError> authorizer_settings(const ConfigMap& given);

/// The short name of a server-side assignor, given by its short name or by its class; empty for any other text.
[[nodiscard]] std::string_view consumer_assignor_name(std::string_view given);

}  // namespace partita::config
