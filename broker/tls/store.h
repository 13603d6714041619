#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/tls/openssl.h"

namespace partita::tls {

/// Bytes of a store, and of PEM text in a config.
inline constexpr std::size_t kStoreBytesMax = std::size_t{8} << 20;
/// Keys and certificates of a store.
inline constexpr std::size_t kStoreEntriesMax = 1000;
/// How often a store may have a password hashed: Java's limit. More would be a way to keep a start busy.
inline constexpr std::int64_t kIterationsMax = 5'000'000;

/// A private key, and the certificates that tell whose it is: its own first, then those of its issuers as far as they are there.
/// The first one belongs to the key.
struct KeyEntry {
    /// What the store calls it, without characters that do not print. Empty when it has no name.
    std::string alias;
    PrivateKey key;
    std::vector<Certificate> chain;
};

/// What stands in a store. Whoever is in `trusted` is trusted to issue certificates, or to be who it is.
struct StoreContents {
    std::vector<KeyEntry> keys;
    std::vector<Certificate> trusted;
};

/// What somebody wants of a store. With `trust` no key is read: as in Java, the owner of a key is trusted, its issuers are not.
enum class StoreUse : std::uint8_t { keys, trust };

/// Null: not given. A store of trusted certificates is read without its password, too, but then nothing tells that it was
/// changed.
struct StorePasswords {
    std::optional<std::string_view> store;
    /// Of the keys. Null: that of the store.
    std::optional<std::string_view> key;

    [[nodiscard]] std::optional<std::string_view> of_keys() const { return key ? key : store; }
};

/// The text without characters that do not print.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace partita::tls
