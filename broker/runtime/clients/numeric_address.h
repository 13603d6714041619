#pragma once

#include <string>

namespace boost::asio::ip {
class address;
}

namespace partita::runtime {

/// The numeric address of a client, as the broker reports it and as rules and quotas name it: "10.0.0.1", "2001:db8::1". An IPv4
/// client of a socket that serves both (::ffff:10.0.0.1) gets its IPv4 address. Zones (%eth0) are left out.
[[nodiscard]] std::string numeric_address(const boost::asio::ip::address& address);

/// True for an address of this machine's loopback, including an IPv4 client of a socket that serves both.
[[nodiscard]] bool is_loopback(const boost::asio::ip::address& address);

}  // namespace partita::runtime
