#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "broker/client/failure.h"

namespace partita::client {

/// Where a broker listens.
struct Endpoint {
    std::string host;
    std::uint16_t port = 0;

    friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

/// "host:9092", with brackets around an address that has colons.
[[nodiscard]] std::string to_string(const Endpoint& endpoint);

/// Reads bootstrap.servers as Kafka's clients do: HOST:PORT, separated by commas, an address of IPv6 in brackets, a scheme before
/// "://" is skipped. The failure (bad_setting) has Kafka's text.
[[nodiscard]] Result<std::vector<Endpoint>> parse_bootstrap(std::string_view text);

/// One of them; the failure is the one of bootstrap.servers.
[[nodiscard]] Result<Endpoint> parse_endpoint(std::string_view text);

}  // namespace partita::client
