#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "broker/config/broker_config.h"
#include "broker/config/config_definition.h"

namespace partita::config {

/// The configs in force for one listener: "listener.name.NAME.KEY" (NAME in lower case, as Kafka demands) hides KEY. Immutable; a
/// snapshot of the values.
class ListenerConfigs {
  public:
    /// `listener_name` in any case. The values in force are those of `broker`, its dynamic ones included.
    ListenerConfigs(const BrokerConfig& broker, std::string_view listener_name);
    ListenerConfigs(ConfigMap effective, std::string_view listener_name);

    /// The text given for this listener, else for all listeners; empty if there is neither, regardless of the default.
    [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
    /// The text given for this listener alone. `key` may lack a definition, such as "plain.sasl.jaas.config".
    [[nodiscard]] std::optional<std::string> own_text(std::string_view key) const;
    /// The value of a defined config, or its default; monostate if it has neither, or no definition. Given values were checked at
    /// the start or at their change; an unreadable value counts as missing.
    [[nodiscard]] ConfigValue value(std::string_view key) const;
    /// The same for text configs; empty without a value.
    [[nodiscard]] std::string string(std::string_view key) const;

    /// The full name under which a person finds the value in force: with the prefix if it was given with one.
    [[nodiscard]] std::string name_of(std::string_view key) const;
    /// The error if the config names a class other than `known`, because this broker cannot load classes. Null if there is no
    /// error.
    [[nodiscard]] std::optional<std::string> problem_with_class(std::string_view key, std::string_view known) const;
    /// "listener.name.NAME."
    [[nodiscard]] const std::string& prefix() const { return prefix_; }

  private:
    ConfigMap effective_;
    std::string prefix_;
};

inline constexpr std::string_view kPrincipalBuilder = "principal.builder.class";
/// The only supported class.
inline constexpr std::string_view kDefaultPrincipalBuilder =
    "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder";

/// Values given at the start or later that may affect which clients a listener admits: with its prefix, and for all listeners.
[[nodiscard]] ConfigMap values_about_clients(const BrokerConfig& broker, std::string_view listener_name);

/// Checks the configs under the prefix of `listener_name` by the definitions of their keys. Ignores keys without a definition.
/// Errors: Kafka's text, with the whole name.
[[nodiscard]] std::expected<void, ConfigError> check_listener_overrides(const ConfigMap& effective,
                                                                        std::string_view listener_name);

}  // namespace partita::config
