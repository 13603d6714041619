#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/types.h"

/// Who is who: what a broker can know of the programs that talk to it.
///
/// A client id and an address are no identity: librdkafka calls everybody `rdkafka`. What cannot be shared is a connection, and an
/// idempotent producer's id; what the kernel knows of a connection from this machine is the process behind it.
namespace partita::expansion {

/// One connection from accept to close. Given in the order in which connections were accepted, and never again in a run.
struct ConnectionId : StrongInt<struct ConnectionIdTag, std::uint64_t> {
    friend constexpr auto operator<=>(ConnectionId, ConnectionId) = default;
};
inline constexpr ConnectionId kNoConnection{0};

/// A process on the broker's machine, as its kernel tells. Process ids come again; with the time of the start they do not.
struct ProcessIdentity {
    std::int32_t pid = 0;
    /// Clock ticks from the start of the machine.
    std::uint64_t start_ticks = 0;
    /// What the kernel calls it: "java".
    std::string name;
    /// What an interpreter runs, for people: "shop.jar", "billing.py". Never arguments, which may be secrets. Empty when it is none.
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
    /// The client's.
    std::uint16_t port = 0;
    /// From ApiVersions; empty for clients that do not say.
    std::string software_name;
    std::string software_version;
    TimestampMs born = kNoTimestamp;
    /// Empty when it is not known: another machine, a container, no permission, or nobody asked yet.
    std::optional<ProcessIdentity> process;
};
/// "billing (/10.0.0.7:51234, librdkafka 2.3.0)", and with its process "billing (/127.0.0.1:51234, java (pid 4711, shop.jar))".
[[nodiscard]] std::string to_string(const ConnectionFacts& connection);

/// Addresses of one machine may differ by the protocol that a name happened to be resolved for.
[[nodiscard]] bool may_be_one_host(const std::string& one, const std::string& other);

}  // namespace partita::expansion
