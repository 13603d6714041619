#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct evp_pkey_st;

/// Public keys in a JSON web key set (RFC 7517), and signatures made with them (RFC 7518). The work is libcrypto's.
namespace partita::authentication {

/// A longer text is refused.
inline constexpr std::size_t kKeySetBytesMax = 1024 * 1024;
/// A set with more keys is refused.
inline constexpr std::size_t kKeysMax = 1000;
/// Smaller RSA keys are passed over, as jose4j does.
inline constexpr int kRsaBitsMin = 2048;
/// What is wrong with a set without keys, for people.
inline constexpr std::string_view kNoUsableKey =
    "no key in it can check a signature (RSA from 2048 bits, P-256, P-384, P-521, Ed25519)";

/// The public keys of a set that can verify.
class KeySet {
  public:
    struct Key {
        /// Empty when the set gives none.
        std::string id;
        /// The one algorithm of this key ("RS256"); empty when any of its type will do.
        std::string algorithm;
        std::shared_ptr<evp_pkey_st> key;
    };

    /// No keys: no signature is good.
    KeySet() = default;

    /// Keys of types that nobody here verifies with, or for encryption, are passed over. The error is one line for people.
    [[nodiscard]] static std::expected<KeySet, std::string> parse(std::string_view json);

    [[nodiscard]] const std::vector<Key>& keys() const { return keys_; }
    [[nodiscard]] bool has(std::string_view key_id) const;

    /// Whether one of the keys made the signature. With an id only keys of that id are asked. False for unknown algorithms: RS,
    /// PS and ES with 256, 384 and 512 are known, and EdDSA with Ed25519.
    [[nodiscard]] bool verifies(std::string_view algorithm, std::optional<std::string_view> key_id, std::string_view message,
                                std::string_view signature) const;

  private:
    std::vector<Key> keys_;
};

}  // namespace partita::authentication
