#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/expansion/identity.h"

namespace partita::runtime {

/// The two ends of a TCP connection from this machine, as its client sees them. Addresses are numeric, IPv4 or IPv6.
struct LocalConnection {
    std::string client_address;
    std::uint16_t client_port = 0;
    std::string broker_address;
    std::uint16_t broker_port = 0;
};

/// Asks the kernel which processes connections of this machine belong to: sock_diag(7) for the socket's inode, /proc for who holds it.
/// Blocks for milliseconds, so no reactor calls it. One thread at a time.
class ProcessFinder {
  public:
    /// Descriptors looked at in one call, of all processes together; what is not found within them is not known.
    static constexpr std::size_t kDescriptorsMax = 200'000;
    /// Bytes of a command line that are read.
    static constexpr std::size_t kCommandLineBytesMax = 16'384;
    /// Longest name of a program that is told.
    static constexpr std::size_t kProgramBytesMax = 64;

    /// For each connection its process, in the same order. Empty where nothing is known: the process belongs to somebody whose descriptors
    /// may not be seen, lives in another container, is gone, or only forwards (docker-proxy, ssh: `is_forwarder`). Of several processes that
    /// hold a socket, after a fork, it is the oldest.
    [[nodiscard]] std::vector<std::optional<expansion::ProcessIdentity>> find(std::span<const LocalConnection> connections,
                                                                              std::size_t descriptors_max = kDescriptorsMax);
    /// The process has ended. False also when that cannot be told.
    [[nodiscard]] static bool has_ended(const expansion::ProcessIdentity& process);

    /// What an interpreter runs, of a command line whose arguments end with zero bytes each: the jar, script, module or main class, without
    /// its directory. Empty for other programs, and for code given on the command line.
    [[nodiscard]] static std::string program_of(std::string_view command_line);
    /// Connections of such a process are somebody else's.
    [[nodiscard]] static bool is_forwarder(std::string_view name);
};

}  // namespace partita::runtime
