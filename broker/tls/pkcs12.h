#pragma once

#include <expected>
#include <string>

#include "broker/tls/store.h"
#include "protocol/types.h"

/// PKCS #12 stores (RFC 7292) of keytool and OpenSSL, with their present ciphers, and with RC2 of 40 bits, which keytool used
/// until Java 15.
namespace partita::tls {

/// Parses a store. Checks the MAC of the whole if the store has one and its password is given. Java's mark on a certificate makes
/// it trusted; in a store without marks and keys all certificates are trusted. Errors say what is wrong with the store, for
/// people, and contain no secret.
[[nodiscard]] std::expected<StoreContents, std::string> parse_pkcs12(Bytes bytes, const StorePasswords& passwords, StoreUse use);

}  // namespace partita::tls
