#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "broker/authentication/scram.h"

/// Users that a broker creates at its start, with passwords as text (KIP-900: Kafka does it when it formats a directory).
namespace partita::authentication {

inline constexpr std::size_t kScramUsersBytesMax = 1 << 20;
inline constexpr std::size_t kScramUsersMax = 1000;

struct ScramUser {
    Hash hash{};
    std::string name;
    std::string password;
    std::int32_t iterations = kScramIterationsMin;
};

/// Parses a file of lines in the form of `kafka-storage format --add-scram`: `SCRAM-SHA-256=[name=alice,password=alice-secret]`,
/// also with `iterations=8192`; values with commas or brackets in double quotes. Skips empty lines and those that begin with #.
/// The error names the line and no password.
[[nodiscard]] std::expected<std::vector<ScramUser>, std::string> parse_scram_users(std::string_view text);

/// Whether a stored credential (`parse_scram_credential`) belongs to this user's password, with any salt.
[[nodiscard]] bool is_credential_of(const ScramUser& user, std::string_view kept);

}  // namespace partita::authentication
