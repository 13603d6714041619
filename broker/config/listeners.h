#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/config/config_definition.h"

namespace partita::config {

enum class SecurityProtocol : std::uint8_t { plaintext, ssl, sasl_plaintext, sasl_ssl };

/// Whether TLS encrypts the connection.
[[nodiscard]] constexpr bool uses_tls(SecurityProtocol protocol) {
    return protocol == SecurityProtocol::ssl || protocol == SecurityProtocol::sasl_ssl;
}
/// Whether a client has to log in by SASL before its first request.
[[nodiscard]] constexpr bool uses_sasl(SecurityProtocol protocol) {
    return protocol == SecurityProtocol::sasl_plaintext || protocol == SecurityProtocol::sasl_ssl;
}

/// "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL".
[[nodiscard]] std::string_view security_protocol_name(SecurityProtocol protocol);

/// One item of `listeners` or `advertised.listeners`.
struct Endpoint {
    /// Upper case, unique among the listeners of a broker.
    std::string listener_name;
    SecurityProtocol protocol = SecurityProtocol::plaintext;
    /// A name or an address, IPv6 without brackets. Empty means every interface.
    std::string host;
    /// 0 lets the system choose when listening; as an advertised port it means the bound one.
    std::uint16_t port = 0;

    friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// The host and port that clients receive.
struct AdvertisedAddress {
    std::string host;
    std::uint16_t port = 0;

    friend bool operator==(const AdvertisedAddress&, const AdvertisedAddress&) = default;
};

/// A listener that the broker opens.
struct Listener {
    Endpoint endpoint;
    /// Addresses to bind, all with the same port. The first must succeed; the others are bound if the machine has them.
    /// "localhost" is 127.0.0.1 and ::1. An empty host is :: for both families, then 0.0.0.0 if :: is missing. With port 0 the
    /// first bound port is used for the rest.
    std::vector<std::string> bind_hosts;
    /// True for an empty host: the alternatives are tried in order and one is enough.
    bool any_interface = false;
};

/// The combined content of the listener configs.
struct ListenerSettings {
    /// The listeners to open, in the given order, without controller listeners: this broker is its own controller and needs no
    /// socket for that.
    std::vector<Listener> listeners;
    /// The items of `advertised.listeners`; empty if it is not set.
    std::vector<Endpoint> advertised;
    /// True if neither `listeners` nor `advertised.listeners` is set: then the broker advertises to each client the address of
    /// its connection.
    bool listeners_by_default = true;
    /// True for `process.roles=controller`. The broker then opens the controller listeners, so that health checks pass.
    bool is_controller_only = false;
    std::string inter_broker_listener_name = "PLAINTEXT";
    std::vector<std::string> controller_listener_names;
    /// The first controller listener in `listeners`. The broker reports it to tools, although it does not open it.
    std::optional<Endpoint> controller_endpoint;
    std::map<std::string, SecurityProtocol, std::less<>> security_protocols;
};

/// Parses and cross-checks these configs of `given`: `listeners`, `advertised.listeners`, `listener.security.protocol.map`,
/// `inter.broker.listener.name`, `security.inter.broker.protocol`, `controller.listener.names`. Absent keys take their defaults.
/// Without `listeners` it is "PLAINTEXT://localhost:9092", loopback only. Kafka listens on every interface, but an open broker on
/// a laptop lets strangers in. Errors: Kafka's texts for Kafka's rules. Does not check a listener's other configs (key stores,
/// logins).
[[nodiscard]] std::expected<ListenerSettings, ConfigError> parse_listeners(const ConfigMap& given);

/// The address that a client of `listener_name` receives.
/// - If `advertised.listeners` names the listener: that host and port (port 0: `bound_port`).
/// - Else if `listeners` was given with a host other than a wildcard (empty, 0.0.0.0, ::): that host.
/// - Else `local_address`, the address of our end of the client's connection (numeric, IPv6 without brackets and zone), which the
///   client can reach. Kafka would use the machine's canonical host name, which often does not resolve elsewhere.
///
/// `bound_port` is the listener's real port. Null if the listener is unknown, or if `advertised.listeners` is set and does not
/// name it.
[[nodiscard]] std::optional<AdvertisedAddress> advertised_address(const ListenerSettings& settings,
                                                                  std::string_view listener_name, std::string_view local_address,
                                                                  std::uint16_t bound_port);

/// "host:port", IPv6 in brackets.
[[nodiscard]] std::string to_string(const AdvertisedAddress& address);
/// "NAME://host:port", IPv6 in brackets.
[[nodiscard]] std::string to_string(const Endpoint& endpoint);

}  // namespace partita::config
