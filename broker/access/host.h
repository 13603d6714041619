#pragma once

#include <string>
#include <string_view>

namespace partita::access {

/// The address of a client as Kafka compares it with ACLs, and shows it in its log: Java's text, in which an IPv6 address has all
/// of its eight groups ("0:0:0:0:0:0:0:1"). What is no IPv6 address stays as it is.
[[nodiscard]] std::string address_in_acls(std::string_view address);

/// True when both are one IPv6 address, however it is written.
[[nodiscard]] bool is_same_ipv6(std::string_view one, std::string_view other);

}  // namespace partita::access
