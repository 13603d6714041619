#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/tls/store.h"

namespace partita::tls {

/// Where the configs `ssl.keystore.*`, `ssl.key.password` and `ssl.truststore.*` come from: of a listener, or of a client's file
/// of properties. Keys are named without a prefix: "ssl.keystore.location".
struct StoreConfigs {
    /// The text that was given. Null when there is none; defaults need not be known here.
    std::function<std::optional<std::string>(std::string_view key)> value;
    /// The name under which a person finds it: with the listener's prefix where it is given so.
    std::function<std::string(std::string_view key)> name_of;
    /// The content of a file, or why it cannot be read: `read_store_file` for files of this machine.
    std::function<std::expected<std::string, std::string>(const std::string& path)> read_file;
};

/// Who one side of a connection is, and whom it believes.
struct KeyMaterial {
    /// Empty without a key store; else not.
    std::vector<KeyEntry> keys;
    /// Null without a trust store: then the certificates that the machine trusts are meant. Not empty otherwise.
    std::optional<std::vector<Certificate>> trusted;
};

/// Reads the stores that the configs name, with Kafka's rules for what goes together. The formats JKS and PKCS12 are told apart
/// by what stands in the file, as Java does; PEM has to be said (`ssl.keystore.type=PEM`). The error is one line that names the
/// config and the file, and no secret.
[[nodiscard]] std::expected<KeyMaterial, std::string> load_key_material(const StoreConfigs& configs);

/// Shows the key's certificate, and those of its issuers, to whoever `context` speaks to. False when OpenSSL refuses one
/// (`take_openssl_reason`).
[[nodiscard]] bool use_key(SSL_CTX& context, const KeyEntry& entry);

/// Whether one of these configs (without a prefix) is read by `load_key_material`.
[[nodiscard]] bool is_store_config(std::string_view key);

/// The content of a file of at most `kStoreBytesMax` bytes, or why it cannot be read.
[[nodiscard]] std::expected<std::string, std::string> read_store_file(const std::string& path);

}  // namespace partita::tls
