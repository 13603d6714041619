#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/tls/store.h"

namespace partita::tls {

/// Access to the configs `ssl.keystore.*`, `ssl.key.password` and `ssl.truststore.*` of a listener, or of a client's properties
/// file. Keys have no prefix: "ssl.keystore.location".
struct StoreConfigs {
    /// The configured text. Null if there is none; defaults need not be known here.
    std::function<std::optional<std::string>(std::string_view key)> value;
    /// The config's full name for people: with the listener's prefix if it was given with one.
    std::function<std::string(std::string_view key)> name_of;
    /// The content of a file, or why it cannot be read: `read_store_file` for files of this machine.
    std::function<std::expected<std::string, std::string>(const std::string& path)> read_file;
};

/// One side's own keys, and the certificates that it trusts.
struct KeyMaterial {
    /// Not empty if there is a key store.
    std::vector<KeyEntry> keys;
    /// Null without a trust store: then the machine's trusted certificates apply. Never empty.
    std::optional<std::vector<Certificate>> trusted;
};

/// Reads the configured stores, with Kafka's rules for valid combinations. Like Java, it recognizes JKS and PKCS12 by the content
/// of the file; PEM needs `ssl.keystore.type=PEM`. The error is one line that names the config and the file, and contains no
/// secret.
[[nodiscard]] std::expected<KeyMaterial, std::string> load_key_material(const StoreConfigs& configs);

/// Makes `context` present the key's certificate and those of its issuers. Returns false if OpenSSL refuses one
/// (`take_openssl_reason`).
[[nodiscard]] bool use_key(SSL_CTX& context, const KeyEntry& entry);

/// Whether `load_key_material` reads this config (without a prefix).
[[nodiscard]] bool is_store_config(std::string_view key);

/// The content of a file of at most `kStoreBytesMax` bytes, or why it cannot be read.
[[nodiscard]] std::expected<std::string, std::string> read_store_file(const std::string& path);

}  // namespace partita::tls
