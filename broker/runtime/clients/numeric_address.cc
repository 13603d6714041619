#include "broker/runtime/clients/numeric_address.h"

#include <boost/asio/ip/address.hpp>

namespace partita::runtime {
namespace {

namespace ip = boost::asio::ip;

/// The IPv4 address of an IPv4 client, even on an IPv6 socket.
ip::address unmapped(const ip::address& address) {
    if (address.is_v6() && address.to_v6().is_v4_mapped()) {
        return ip::make_address_v4(ip::v4_mapped, address.to_v6());
    }
    return address;
}

}  // namespace

std::string numeric_address(const ip::address& address) {
    std::string text = unmapped(address).to_string();
    if (const std::size_t zone = text.find('%'); zone != std::string::npos) {
        text.resize(zone);
    }
    return text;
}

bool is_loopback(const ip::address& address) { return unmapped(address).is_loopback(); }

}  // namespace partita::runtime
