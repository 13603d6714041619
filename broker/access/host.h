#pragma once

#include <string>
#include <string_view>

namespace partita::access {

/// A client's address in the form that Kafka compares with ACLs and logs: Java's text, in which an IPv6 address has all of its
/// eight groups ("0:0:0:0:0:0:0:1"). Any other text stays unchanged.
[[nodiscard]] std::string address_in_acls(std::string_view address);

/// True if both texts are the same IPv6 address, in any spelling.
[[nodiscard]] bool is_same_ipv6(std::string_view one, std::string_view other);

}  // namespace partita::access
