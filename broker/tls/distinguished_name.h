#pragma once

#include <openssl/types.h>

#include <string>

namespace partita::tls {

/// The name as RFC 2253 writes it and Java's X500Principal.getName() gives it, which ACLs and mapping rules go by: last part
/// first, "CN=alice,OU=Sales,O=Example\\, Inc.,C=DE". Attributes that RFC 2253 has no word for are their OID and the value as DER
/// in hex: "1.2.840.113549.1.9.1=#1603612e62" is an e-mail address.
[[nodiscard]] std::string distinguished_name(const X509_NAME& name);

}  // namespace partita::tls
