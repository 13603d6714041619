#pragma once

#include <expected>
#include <string>

#include "broker/tls/store.h"
#include "protocol/types.h"

/// Java's own key stores (JKS), which keytool wrote by default before Java 9, and still writes with -storetype JKS. OpenSSL does
/// not support them. Only Java's source documents the format. Versions 1 and 2.
namespace partita::tls {

/// True if `bytes` begin like a JKS store.
[[nodiscard]] bool is_jks(Bytes bytes);
/// True if `bytes` begin like a JCEKS store, which is not supported.
[[nodiscard]] bool is_jceks(Bytes bytes);

/// Parses a store. Checks the digest of the whole if the store's password is given. Memory grows with the present bytes, not with
/// declared lengths. Errors say what is wrong with the store, for people, and contain no secret.
[[nodiscard]] std::expected<StoreContents, std::string> parse_jks(Bytes bytes, const StorePasswords& passwords, StoreUse use);

}  // namespace partita::tls
