#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/insight/identity/identity.h"

namespace partita::runtime {

/// The two ends of a TCP connection from this machine, as its client sees them. Addresses are numeric, IPv4 or IPv6.
struct LocalConnection {
    std::string client_address;
    std::uint16_t client_port = 0;
    std::string broker_address;
    std::uint16_t broker_port = 0;
};

/// Asks the kernel which processes own connections from this machine: sock_diag(7) tells the socket's inode, /proc tells its
/// holder. It blocks for milliseconds, so reactors must not call it. One thread at a time.
class ProcessFinder {
  public:
    /// How many descriptors of all processes together one call looks at. A process beyond that limit stays unknown.
    static constexpr std::size_t kDescriptorsMax = 200'000;
    /// How many bytes of a command line are read.
    static constexpr std::size_t kCommandLineBytesMax = 16'384;
    /// The longest name of a program in an answer.
    static constexpr std::size_t kProgramBytesMax = 64;

    /// The process of each connection, in the same order. Empty if it is not known:
    /// - this user may not see its descriptors
    /// - it runs in another container
    /// - it has ended
    /// - it only forwards (docker-proxy, ssh: `is_forwarder`)
    ///
    /// If several processes hold the socket after a fork, the result is the oldest.
    [[nodiscard]] std::vector<std::optional<insight::ProcessIdentity>> find(std::span<const LocalConnection> connections,
                                                                            std::size_t descriptors_max = kDescriptorsMax);
    /// True if the process has ended; false also if that is unknown.
    [[nodiscard]] static bool has_ended(const insight::ProcessIdentity& process);

    /// The program that an interpreter runs, from its command line (each argument ends with a zero byte). It is the jar, script,
    /// module or main class, without its directory. Empty for other programs, and for code given on the command line.
    [[nodiscard]] static std::string program_of(std::string_view command_line);
    /// True for the name of a program that forwards connections: its connections belong to other programs.
    [[nodiscard]] static bool is_forwarder(std::string_view name);
};

}  // namespace partita::runtime
