#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct evp_pkey_st;

/// Public keys of a JSON web key set (RFC 7517), and verification of their signatures (RFC 7518), based on libcrypto.
namespace partita::authentication {

/// The parser refuses longer texts.
inline constexpr std::size_t kKeySetBytesMax = 1024 * 1024;
/// The parser refuses sets with more keys.
inline constexpr std::size_t kKeysMax = 1000;
/// The parser ignores smaller RSA keys, as jose4j does.
inline constexpr int kRsaBitsMin = 2048;
/// The error for a set without usable keys, for people.
inline constexpr std::string_view kNoUsableKey =
    "no key in it can check a signature (RSA from 2048 bits, P-256, P-384, P-521, Ed25519)";

/// The public keys of a set that can verify.
class KeySet {
  public:
    struct Key {
        /// Empty if the set has none.
        std::string id;
        /// The key's only algorithm ("RS256"); empty if all algorithms of its type are allowed.
        std::string algorithm;
        std::shared_ptr<evp_pkey_st> key;
    };

    /// No keys: every signature is invalid.
    KeySet() = default;

    /// Parses a set. Ignores keys of unsupported types and keys for encryption. The error is one line for people.
    [[nodiscard]] static std::expected<KeySet, std::string> parse(std::string_view json);

    [[nodiscard]] const std::vector<Key>& keys() const { return keys_; }
    [[nodiscard]] bool has(std::string_view key_id) const;

    /// Whether one of the keys made the signature. With an id only keys with that id count. False for unknown algorithms: RS, PS
    /// and ES with 256, 384 and 512 are known, and EdDSA with Ed25519.
    [[nodiscard]] bool verifies(std::string_view algorithm, std::optional<std::string_view> key_id, std::string_view message,
                                std::string_view signature) const;

  private:
    std::vector<Key> keys_;
};

}  // namespace partita::authentication
