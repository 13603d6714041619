#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/types.h"

/// The identities that a broker can know of the programs that talk to it.
///
/// A client id and an address do not identify a client: every librdkafka is called `rdkafka` by default. Two clients cannot
/// share a connection, or the id of an idempotent producer. For a connection from this machine the kernel knows the process.
namespace partita::insight {

/// One connection from accept to close. The broker numbers connections as it accepts them. It does not reuse a number while it
/// runs.
struct ConnectionId : StrongInt<struct ConnectionIdTag, std::uint64_t> {
    friend constexpr auto operator<=>(ConnectionId, ConnectionId) = default;
};
inline constexpr ConnectionId kNoConnection{0};

/// A process on the broker's machine, as the kernel reports it. The kernel reuses process ids, but not together with the start
/// time.
struct ProcessIdentity {
    std::int32_t pid = 0;
    /// Clock ticks between the start of the machine and the start of the process.
    std::uint64_t start_ticks = 0;
    /// The kernel's name for it: "java".
    std::string name;
    /// The program that an interpreter runs, for people: "shop.jar", "billing.py". Never arguments, which may be secrets. Empty
    /// if the process is not an interpreter.
    std::string program;

    /// True for the same process; the names are for people and do not count.
    friend bool operator==(const ProcessIdentity& one, const ProcessIdentity& other) {
        return one.pid == other.pid && one.start_ticks == other.start_ticks;
    }
};
/// "java (pid 4711, shop.jar)".
[[nodiscard]] std::string to_string(const ProcessIdentity& process);

/// The facts about the client at the other end of one connection.
struct ConnectionFacts {
    ConnectionId id;
    std::string client_id;
    /// The address as Kafka prints it: "/127.0.0.1".
    std::string address;
    /// The client's port.
    std::uint16_t port = 0;
    /// The name from the client's ApiVersions request; empty if it sent none.
    std::string software_name;
    std::string software_version;
    /// The authenticated principal: "User:alice". Empty if the broker did not ask for authentication.
    std::string principal;
    TimestampMs born = kNoTimestamp;
    /// Null if the process is not known: another machine, a container, no permission, or no lookup yet.
    std::optional<ProcessIdentity> process;
};
/// "billing (/10.0.0.7:51234, librdkafka 2.3.0)"; with its process "billing (/127.0.0.1:51234, java (pid 4711, shop.jar))"; after
/// a login "billing (User:alice, /10.0.0.7:51234, librdkafka 2.3.0)".
[[nodiscard]] std::string to_string(const ConnectionFacts& connection);

/// The part of a client's address that counts in comparisons. Localhost is one host in IPv4 and IPv6: a client resolves that name
/// anew for every connection and may get either address. Other addresses stand for themselves, even those of the loopback
/// network, because a client stays with the one that it was bound to. Valid as long as `address` is.
[[nodiscard]] std::string_view host_of(std::string_view address);
/// True if two addresses may belong to one machine, as far as their texts tell; all loopback addresses do. For callers that would
/// rather take two clients for one than one for two.
[[nodiscard]] bool may_be_one_host(std::string_view one, std::string_view other);

}  // namespace partita::insight
