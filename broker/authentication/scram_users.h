#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "broker/authentication/scram.h"

/// Users that a broker makes at its start, with passwords as text (KIP-900 has Kafka do it when a directory is formatted).
namespace partita::authentication {

inline constexpr std::size_t kScramUsersBytesMax = 1 << 20;
inline constexpr std::size_t kScramUsersMax = 1000;

struct ScramUser {
    Hash hash{};
    std::string name;
    std::string password;
    std::int32_t iterations = kScramIterationsMin;
};

/// Reads a file of lines as `kafka-storage format --add-scram` takes them: `SCRAM-SHA-256=[name=alice,password=alice-secret]`,
/// also with `iterations=8192`; values with commas or brackets in double quotes. Empty lines and those that begin with # are
/// passed over. The error names the line and no password.
[[nodiscard]] std::expected<std::vector<ScramUser>, std::string> parse_scram_users(std::string_view text);

/// Whether a credential that is kept (`parse_scram_credential`) is one of this user's password, however it is salted.
[[nodiscard]] bool is_credential_of(const ScramUser& user, std::string_view kept);

}  // namespace partita::authentication
