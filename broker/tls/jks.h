#pragma once

#include <expected>
#include <string>

#include "broker/tls/store.h"
#include "protocol/types.h"

/// Java's own key stores, as keytool wrote them before Java 9 and writes them with -storetype JKS. OpenSSL does not know them.
/// The format is documented by nobody but its source; version 1 and 2.
namespace partita::tls {

/// True when `bytes` begin as a JKS store does.
[[nodiscard]] bool is_jks(Bytes bytes);
/// True when `bytes` begin as a JCEKS store does, which is not read.
[[nodiscard]] bool is_jceks(Bytes bytes);

/// Checks the digest over the whole if the password of the store is given. Memory follows the bytes that are there, whatever
/// lengths they declare. Errors say what is wrong with the store, for people, and no secret.
[[nodiscard]] std::expected<StoreContents, std::string> parse_jks(Bytes bytes, const StorePasswords& passwords, StoreUse use);

}  // namespace partita::tls
