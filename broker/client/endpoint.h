#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "broker/client/failure.h"

namespace partita::client {

/// The host and port of a broker.
struct Endpoint {
    std::string host;
    std::uint16_t port = 0;

    friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

/// "host:9092", with brackets around an IPv6 address.
[[nodiscard]] std::string to_string(const Endpoint& endpoint);

/// Parses bootstrap.servers as Kafka's clients do: HOST:PORT, separated by commas, IPv6 addresses in brackets; it skips a scheme
/// before "://". The failure (bad_setting) has Kafka's text.
[[nodiscard]] Result<std::vector<Endpoint>> parse_bootstrap(std::string_view text);

/// Parses one address; fails like `parse_bootstrap`.
[[nodiscard]] Result<Endpoint> parse_endpoint(std::string_view text);

}  // namespace partita::client
