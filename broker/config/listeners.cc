#include "broker/config/listeners.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "broker/config/broker_rules.h"
#include "broker/config/broker_synonyms.h"
#include "broker/config/config_refusal.h"
#include "broker/config/java_text.h"
#include "broker/config/listener_configs.h"
#include "protocol/try.h"

namespace partita::config {

namespace {

using ProtocolMap = std::map<std::string, SecurityProtocol, std::less<>>;
using Verdict = std::expected<void, ConfigError>;
using List = std::vector<std::string>;

std::optional<SecurityProtocol> protocol_of(std::string_view name) {
    const std::string upper = java::to_upper(name);
    for (const SecurityProtocol protocol :
         {SecurityProtocol::plaintext, SecurityProtocol::ssl, SecurityProtocol::sasl_plaintext, SecurityProtocol::sasl_ssl}) {
        if (upper == security_protocol_name(protocol)) {
            return protocol;
        }
    }
    return std::nullopt;
}

struct RawEndpoint {
    std::string name;
    std::string host;
    std::int64_t port = 0;
};

// Kafka's pattern: name "://" then an IPv6 literal in brackets or the characters of a host name, ":" port.
std::optional<RawEndpoint> parse_endpoint(std::string_view text) {
    const std::size_t mark = text.find("://");
    if (mark == std::string_view::npos) {
        return std::nullopt;
    }
    const std::size_t colon = text.rfind(':');
    std::string_view host = text.substr(mark + 3, colon > mark + 2 ? colon - mark - 3 : 0);
    const auto port = java::parse_integer(text.substr(colon + 1), std::numeric_limits<std::int32_t>::min(),
                                          std::numeric_limits<std::int32_t>::max());
    if (colon < mark + 3 || !port) {
        return std::nullopt;
    }
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    }
    if (host.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-%._:") != std::string_view::npos) {
        return std::nullopt;
    }
    return RawEndpoint{java::to_upper(java::trim(text.substr(0, mark))), std::string(host), *port};
}

bool is_ipv4(const std::string& host) {
    std::array<unsigned char, 4> bytes{};
    return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1;
}

bool is_ipv6(const std::string& host) {
    std::array<unsigned char, 16> bytes{};
    return inet_pton(AF_INET6, host.substr(0, host.find('%')).c_str(), bytes.data()) == 1;
}

std::expected<std::vector<Endpoint>, std::string> endpoints_of(const List& items, const ProtocolMap& protocols) {
    std::vector<Endpoint> endpoints;
    for (const std::string& item : items) {
        const std::optional<RawEndpoint> raw = parse_endpoint(item);
        if (!raw) {
            return std::unexpected("Unable to parse " + item + " to a broker endpoint");
        }
        if (raw->name.empty()) {
            return std::unexpected("The provided listener name is null or empty string");
        }
        const auto protocol = protocols.find(raw->name);
        if (protocol == protocols.end()) {
            return std::unexpected("No security protocol defined for listener " + raw->name);
        }
        if (raw->port < 0 || raw->port > 65535) {
            // Kafka fails later, when it binds: "Port value out of range".
            return std::unexpected("Port " + std::to_string(raw->port) + " of " + item +
                                   " is out of range, it must be from 0 to 65535");
        }
        endpoints.push_back({raw->name, protocol->second, raw->host, static_cast<std::uint16_t>(raw->port)});
    }
    return endpoints;
}

// One port may serve two listeners when one of them is an IPv4 and the other an IPv6 address (KIP-797).
std::optional<std::string> duplicate_port(const std::vector<Endpoint>& endpoints, const std::string& listed) {
    std::map<std::uint16_t, std::vector<const Endpoint*>> by_port;
    for (const Endpoint& endpoint : endpoints) {
        if (endpoint.port != 0) {
            by_port[endpoint.port].push_back(&endpoint);
        }
    }
    for (const auto& [port, same] : by_port) {
        if (same.size() < 2) {
            continue;
        }
        const std::string suffix = ", listeners: " + listed + ", port: " + std::to_string(port);
        std::vector<const Endpoint*> literal;
        std::size_t named = 0;
        for (const Endpoint* endpoint : same) {
            if (is_ipv4(endpoint->host) || is_ipv6(endpoint->host)) {
                literal.push_back(endpoint);
            } else {
                ++named;
            }
        }
        if (named > 1) {
            return "Each listener must have a different port, listeners: " + listed;
        }
        if (literal.size() == 2) {
            if (is_ipv4(literal[0]->host) == is_ipv4(literal[1]->host) || named != 0) {
                return "If you have two listeners on the same port then one needs to be IPv4 and the other IPv6" + suffix;
            }
            continue;
        }
        return "Each listener must have a different port unless exactly one listener has an IPv4 address and the "
               "other IPv6 address" +
               suffix;
    }
    return std::nullopt;
}

std::expected<std::vector<Endpoint>, ConfigError> checked_endpoints(const List& items, const ProtocolMap& protocols,
                                                                    bool distinct_ports) {
    const std::string prefix = "Error creating broker listeners from '" + java::list_text(items) + "': ";
    auto endpoints = endpoints_of(items, protocols);
    if (!endpoints) {
        return invalid_config(prefix + endpoints.error());
    }
    std::set<std::string_view> names;
    for (const Endpoint& endpoint : *endpoints) {
        if (!names.insert(endpoint.listener_name).second) {
            return invalid_config(prefix + "Each listener must have a different name, listeners: " + java::list_text(items));
        }
    }
    if (distinct_ports) {
        if (const auto problem = duplicate_port(*endpoints, java::list_text(items))) {
            return invalid_config(prefix + *problem);
        }
    }
    return std::move(*endpoints);
}

bool is_controller(const ListenerSettings& settings, std::string_view name) {
    return std::ranges::any_of(settings.controller_listener_names,
                               [&](const std::string& item) { return java::to_upper(item) == name; });
}

std::expected<ProtocolMap, ConfigError> protocol_map(const ConfigMap& given, const List& controller_names,
                                                     const List& listeners) {
    constexpr std::string_view kName = "listener.security.protocol.map";
    PARTITA_TRY_ASSIGN(auto entries, parse_map(kName, std::get<std::string>(broker_value(given, kName))));
    ProtocolMap protocols;
    for (const auto& [name, protocol_name] : entries) {
        const std::optional<SecurityProtocol> protocol = protocol_of(protocol_name);
        if (!protocol) {
            return invalid_config("Invalid security protocol `" + protocol_name + "` defined in " + std::string(kName));
        }
        protocols.insert_or_assign(java::to_upper(name), *protocol);
    }
    if (given.contains(kName)) {
        return protocols;
    }
    // The default map includes controller listeners as plain text, as long as no other protocol is configured.
    const auto is_secure = [](std::string_view name) { return name != "PLAINTEXT" && protocol_of(name).has_value(); };
    bool secure = std::ranges::any_of(controller_names, is_secure);
    for (const std::string& listener : listeners) {
        const std::size_t colon = listener.find(':');
        if (colon == std::string::npos) {
            return invalid_config("Unable to parse a listener name from " + listener);
        }
        secure |= is_secure(java::to_upper(std::string_view(listener).substr(0, colon)));
    }
    for (const std::string& name : controller_names) {
        if (!secure && name != "PLAINTEXT") {
            protocols.insert_or_assign(java::to_upper(name), SecurityProtocol::plaintext);
        }
    }
    return protocols;
}

std::expected<std::string, ConfigError> inter_broker_name(const ConfigMap& given, const ProtocolMap& protocols) {
    const ConfigValue configured = broker_value(given, "inter.broker.listener.name");
    if (const auto* name = std::get_if<std::string>(&configured)) {
        if (given.contains("security.inter.broker.protocol")) {
            return invalid_config("Only one of inter.broker.listener.name and security.inter.broker.protocol should be set.");
        }
        const std::string upper = java::to_upper(*name);
        if (!protocols.contains(upper)) {
            return invalid_config("Listener with name " + upper +
                                  " defined in inter.broker.listener.name not found in listener.security.protocol.map.");
        }
        return upper;
    }
    return std::get<std::string>(broker_value(given, "security.inter.broker.protocol"));
}

std::string names_of(const std::vector<Endpoint>& endpoints, std::string_view separator) {
    List names;
    for (const Endpoint& endpoint : endpoints) {
        names.push_back(endpoint.listener_name);
    }
    return java::join(names, separator);
}

bool has_name(const std::vector<Endpoint>& endpoints, std::string_view name) {
    return std::ranges::find(endpoints, name, &Endpoint::listener_name) != endpoints.end();
}

Verdict check_together(const ListenerSettings& settings, const std::vector<Endpoint>& all,
                       const std::vector<Endpoint>& effective_advertised) {
    if (effective_advertised.empty()) {
        return invalid_config(
            "requirement failed: There must be at least one broker advertised listener. Perhaps all listeners appear in "
            "controller.listener.names?");
    }
    if (!settings.is_controller_only && !has_name(effective_advertised, settings.inter_broker_listener_name)) {
        return invalid_config(
            "requirement failed: inter.broker.listener.name must be a listener name defined in advertised.listeners. The valid "
            "options "
            "based on currently configured listeners are " +
            names_of(effective_advertised, ","));
    }
    for (const Endpoint& endpoint : effective_advertised) {
        if (!has_name(all, endpoint.listener_name)) {
            return invalid_config(
                "requirement failed: advertised.listeners listener names must be equal to or a subset of the ones defined in "
                "listeners. "
                "Found " +
                names_of(effective_advertised, ",") + ". The valid options based on the current configuration are " +
                names_of(all, ","));
        }
    }
    for (const Endpoint& endpoint : settings.advertised) {
        if (endpoint.host == "0.0.0.0") {
            return invalid_config(
                "requirement failed: advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP "
                "address.");
        }
    }
    return {};
}

Listener listener_of(const Endpoint& endpoint) {
    Listener listener{.endpoint = endpoint};
    if (endpoint.host.empty()) {
        listener.bind_hosts = {"::", "0.0.0.0"};
        listener.any_interface = true;
    } else if (java::equal_ignoring_case(endpoint.host, "localhost")) {
        listener.bind_hosts = {"127.0.0.1", "::1"};
    } else {
        listener.bind_hosts = {endpoint.host};
    }
    return listener;
}

}  // namespace

std::string_view security_protocol_name(SecurityProtocol protocol) {
    switch (protocol) {
        case SecurityProtocol::plaintext:
            return "PLAINTEXT";
        case SecurityProtocol::ssl:
            return "SSL";
        case SecurityProtocol::sasl_plaintext:
            return "SASL_PLAINTEXT";
        case SecurityProtocol::sasl_ssl:
            return "SASL_SSL";
    }
    return "";
}

std::expected<ListenerSettings, ConfigError> parse_listeners(const ConfigMap& given) {
    ListenerSettings settings;
    const List listeners = broker_list(given, "listeners");
    settings.listeners_by_default = !given.contains("listeners") && !given.contains("advertised.listeners");
    settings.controller_listener_names = broker_list(given, "controller.listener.names");
    settings.is_controller_only = broker_list(given, "process.roles") == List{"controller"};
    PARTITA_TRY_ASSIGN(settings.security_protocols, protocol_map(given, settings.controller_listener_names, listeners));
    PARTITA_TRY_ASSIGN(settings.inter_broker_listener_name, inter_broker_name(given, settings.security_protocols));
    PARTITA_TRY_ASSIGN(const auto all, checked_endpoints(listeners, settings.security_protocols, true));
    if (settings.is_controller_only &&
        std::ranges::any_of(all, [&](const Endpoint& e) { return !is_controller(settings, e.listener_name); })) {
        return invalid_config(
            "requirement failed: The listeners config must only contain KRaft controller listeners from "
            "controller.listener.names "
            "when process.roles=controller");
    }
    std::vector<Endpoint> effective_advertised;
    if (const List advertised = broker_list(given, "advertised.listeners"); !advertised.empty()) {
        if (settings.is_controller_only) {
            return invalid_config(
                "requirement failed: The advertised.listeners config must be empty when process.roles=controller");
        }
        // Two advertised listeners may share a port: a proxy can distinguish them by host.
        PARTITA_TRY_ASSIGN(auto endpoints, checked_endpoints(advertised, settings.security_protocols, false));
        std::erase_if(endpoints, [&](const Endpoint& e) { return is_controller(settings, e.listener_name); });
        settings.advertised = std::move(endpoints);
        effective_advertised = settings.advertised;
    } else {
        effective_advertised = all;
        if (!settings.is_controller_only) {
            std::erase_if(effective_advertised, [&](const Endpoint& e) { return is_controller(settings, e.listener_name); });
        }
    }
    if (Verdict verdict = check_together(settings, all, effective_advertised); !verdict) {
        return std::unexpected(verdict.error());
    }
    for (const std::string& early : broker_list(given, "early.start.listeners")) {
        const std::string name = java::to_upper(early);
        if (!has_name(all, name) && !is_controller(settings, name)) {
            return invalid_config("early.start.listeners contains listener " + name +
                                  ", but this is not contained in listeners or controller.listener.names");
        }
    }
    for (const Endpoint& endpoint : all) {
        if (is_controller(settings, endpoint.listener_name)) {
            if (!settings.controller_endpoint) {
                settings.controller_endpoint = endpoint;
            }
            if (!settings.is_controller_only) {
                continue;
            }
        }
        if (Verdict verdict = check_listener_overrides(given, endpoint.listener_name); !verdict) {
            return std::unexpected(verdict.error());
        }
        settings.listeners.push_back(listener_of(endpoint));
    }
    return settings;
}

std::optional<AdvertisedAddress> advertised_address(const ListenerSettings& settings, std::string_view listener_name,
                                                    std::string_view local_address, std::uint16_t bound_port) {
    const auto listener = std::ranges::find_if(
        settings.listeners, [&](const Listener& item) { return item.endpoint.listener_name == listener_name; });
    if (listener == settings.listeners.end()) {
        return std::nullopt;
    }
    const std::string here(local_address);
    if (!settings.advertised.empty()) {
        const auto advertised = std::ranges::find(settings.advertised, listener_name, &Endpoint::listener_name);
        if (advertised == settings.advertised.end()) {
            return std::nullopt;
        }
        return AdvertisedAddress{advertised->host.empty() ? here : advertised->host,
                                 advertised->port == 0 ? bound_port : advertised->port};
    }
    const std::string& host = listener->endpoint.host;
    const bool wildcard = host.empty() || host == "0.0.0.0" || host == "::";
    return AdvertisedAddress{settings.listeners_by_default || wildcard ? here : host, bound_port};
}

std::string to_string(const AdvertisedAddress& address) {
    const bool literal = address.host.find(':') != std::string::npos;
    return (literal ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

std::string to_string(const Endpoint& endpoint) {
    return endpoint.listener_name + "://" + to_string(AdvertisedAddress{endpoint.host, endpoint.port});
}

}  // namespace partita::config
