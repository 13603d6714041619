#pragma once

#include <expected>
#include <string>

#include "broker/tls/store.h"
#include "protocol/types.h"

/// PKCS #12 stores (RFC 7292) of keytool and of OpenSSL, with what both encrypt by now and with RC2 of 40 bits, which keytool
/// used until Java 15.
namespace partita::tls {

/// Checks the MAC over the whole if the password of the store is given and there is one. Which certificates are trusted is
/// Java's mark at each; a store without such marks and without keys is one of trusted certificates. Errors say what is wrong
/// with the store, for people, and no secret.
[[nodiscard]] std::expected<StoreContents, std::string> parse_pkcs12(Bytes bytes, const StorePasswords& passwords, StoreUse use);

}  // namespace partita::tls
