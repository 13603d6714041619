#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Hashes, keys and text forms of bytes for the authentication of clients, based on libcrypto. Bytes are held in strings, because
/// SASL messages mix them with text.
namespace partita::authentication {

enum class Hash : std::uint8_t { sha_256, sha_512 };

/// 32 or 64.
[[nodiscard]] std::size_t hash_bytes(Hash hash);

[[nodiscard]] std::string digest(Hash hash, std::string_view message);
[[nodiscard]] std::string keyed_digest(Hash hash, std::string_view key, std::string_view message);

/// Hi(password, salt, iterations) of RFC 5802, which is PBKDF2. `iterations` is at least 1.
[[nodiscard]] std::string salted_password(Hash hash, std::string_view password, std::string_view salt, std::int32_t iterations);

/// Compares in a time that does not reveal where the texts differ.
[[nodiscard]] bool equal_in_constant_time(std::string_view one, std::string_view other);

/// Overwrites the text with zeros, which the compiler must not optimize away, and empties it.
void wipe(std::string& secret);

[[nodiscard]] std::string to_base64(std::string_view bytes);
/// Decodes the usual alphabet, like Java's decoder: padding is optional but must be right; bits behind the last byte are ignored.
/// Null if malformed.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);
/// Decodes the alphabet for URLs, with or without padding.
[[nodiscard]] std::optional<std::string> from_base64_url(std::string_view text);

}  // namespace partita::authentication
