#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/types.h"

/// Who is who: what a broker can know of the programs that talk to it.
///
/// A client id and an address are no identity: every librdkafka is called `rdkafka` by default. Two clients cannot
/// share a connection, or an idempotent producer's id; and of a connection from this machine the kernel knows the
/// process behind it.
namespace partita::insight {

/// One connection from accept to close. The broker numbers connections as it accepts them, and reuses no number while
/// it runs.
struct ConnectionId : StrongInt<struct ConnectionIdTag, std::uint64_t> {
    friend constexpr auto operator<=>(ConnectionId, ConnectionId) = default;
};
inline constexpr ConnectionId kNoConnection{0};

/// A process on the broker's machine, as its kernel tells. The kernel reuses process ids, but not together with the
/// time of the start.
struct ProcessIdentity {
    std::int32_t pid = 0;
    /// Clock ticks between the start of the machine and the start of the process.
    std::uint64_t start_ticks = 0;
    /// What the kernel calls it: "java".
    std::string name;
    /// What an interpreter runs, for people: "shop.jar", "billing.py". Never arguments, which may be secrets. Empty
    /// when the process is no interpreter.
    std::string program;

    /// The same process; the names are for people.
    friend bool operator==(const ProcessIdentity& one, const ProcessIdentity& other) {
        return one.pid == other.pid && one.start_ticks == other.start_ticks;
    }
};
/// "java (pid 4711, shop.jar)".
[[nodiscard]] std::string to_string(const ProcessIdentity& process);

/// What is known of the client at the other end of one connection.
struct ConnectionFacts {
    ConnectionId id;
    std::string client_id;
    /// As Kafka prints it: "/127.0.0.1".
    std::string address;
    /// The client's port.
    std::uint16_t port = 0;
    /// As the client said in ApiVersions; empty when it did not.
    std::string software_name;
    std::string software_version;
    /// Who the client has proven to be: "User:alice". Empty when it was not asked.
    std::string principal;
    TimestampMs born = kNoTimestamp;
    /// Empty when it is not known: another machine, a container, no permission, or nobody asked yet.
    std::optional<ProcessIdentity> process;
};
/// "billing (/10.0.0.7:51234, librdkafka 2.3.0)", and with its process "billing (/127.0.0.1:51234, java (pid 4711, shop.jar))";
/// of one that has logged in "billing (User:alice, /10.0.0.7:51234, librdkafka 2.3.0)".
[[nodiscard]] std::string to_string(const ConnectionFacts& connection);

/// What is compared of the address of a client: localhost is one host by either protocol. A client resolves that name for every
/// connection anew, and may get either address. Other addresses stand for themselves, those of the loopback too: a client stays
/// with the one that it was bound to. Valid as long as `address` is.
[[nodiscard]] std::string_view host_of(std::string_view address);
/// True when two addresses may be of one machine, as far as their texts tell: all of the loopback are. For those who had rather
/// take two clients for one than one for two.
[[nodiscard]] bool may_be_one_host(std::string_view one, std::string_view other);

}  // namespace partita::insight
