#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "broker/config/broker_config.h"
#include "broker/config/config_definition.h"

namespace partita::config {

/// The configs as they hold for one listener: what is given as "listener.name.NAME.KEY" (NAME in lower case, as Kafka demands)
/// hides KEY. Immutable; knows the values of one moment.
class ListenerConfigs {
  public:
    /// `listener_name` in any case. The values in force are those of `broker`, its dynamic ones included.
    ListenerConfigs(const BrokerConfig& broker, std::string_view listener_name);
    ListenerConfigs(ConfigMap effective, std::string_view listener_name);

    /// The text that is given for this listener, or for all; empty when neither is, whatever the default is.
    [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
    /// The text that is given for this listener alone. `key` may be one that has no definition, such as
    /// "plain.sasl.jaas.config".
    [[nodiscard]] std::optional<std::string> own_text(std::string_view key) const;
    /// The value of a defined config, or its default; monostate when it has neither, or no definition. What is given was
    /// checked at the start or when it was altered; a value that cannot be read counts as not given.
    [[nodiscard]] ConfigValue value(std::string_view key) const;
    /// The same for configs that hold text; empty without a value.
    [[nodiscard]] std::string string(std::string_view key) const;

    /// The name that a person has to look for to find the value that is in force: with the prefix if it is given so.
    [[nodiscard]] std::string name_of(std::string_view key) const;
    /// Why the config cannot be: it names a class other than `known`, which cannot be loaded here. Null when it can.
    [[nodiscard]] std::optional<std::string> problem_with_class(std::string_view key, std::string_view known) const;
    /// "listener.name.NAME."
    [[nodiscard]] const std::string& prefix() const { return prefix_; }

  private:
    ConfigMap effective_;
    std::string prefix_;
};

inline constexpr std::string_view kPrincipalBuilder = "principal.builder.class";
/// The only one that there is.
inline constexpr std::string_view kDefaultPrincipalBuilder =
    "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder";

/// What is given, at the start or since, that may matter to whom a listener lets in: with its prefix, and for all listeners.
[[nodiscard]] ConfigMap values_about_clients(const BrokerConfig& broker, std::string_view listener_name);

/// Checks what is given under the prefix of `listener_name` by the definitions of the keys. Keys without a definition are left
/// alone. Errors: Kafka's text, with the whole name.
[[nodiscard]] std::expected<void, ConfigError> check_listener_overrides(const ConfigMap& effective,
                                                                        std::string_view listener_name);

}  // namespace partita::config
