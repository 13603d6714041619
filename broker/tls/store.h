#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/tls/openssl.h"

namespace partita::tls {

/// Limit for a store's file, and for PEM text in a config.
inline constexpr std::size_t kStoreBytesMax = std::size_t{8} << 20;
/// Limit for keys and certificates of a store.
inline constexpr std::size_t kStoreEntriesMax = 1000;
/// How often a store may require a password to be hashed: Java's limit. More could keep the broker's start busy.
inline constexpr std::int64_t kIterationsMax = 5'000'000;

/// A private key and its certificates: its own first, then those of its issuers as far as they are present. The first one has the
/// key's public half.
struct KeyEntry {
    /// The store's name for the key, without unprintable characters. Empty if it has none.
    std::string alias;
    PrivateKey key;
    std::vector<Certificate> chain;
};

/// The content of a store. Certificates in `trusted` are trusted as issuers, or as themselves.
struct StoreContents {
    std::vector<KeyEntry> keys;
    std::vector<Certificate> trusted;
};

/// The purpose of reading a store. With `trust` no key is read: as in Java, a key's own certificate is trusted, its issuers are
/// not.
enum class StoreUse : std::uint8_t { keys, trust };

/// Null: not given. Trusted certificates can be read without the password, but then a changed store goes unnoticed.
struct StorePasswords {
    std::optional<std::string_view> store;
    /// Password of the keys. Null: the same as the store's.
    std::optional<std::string_view> key;

    [[nodiscard]] std::optional<std::string_view> of_keys() const { return key ? key : store; }
};

/// The text without unprintable characters.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace partita::tls
