#pragma once

#include <openssl/types.h>

#include <string>

namespace partita::tls {

/// The name in RFC 2253's form, as Java's X500Principal.getName() returns it and ACLs and mapping rules use it. Last part first:
/// "CN=alice,OU=Sales,O=Example\\, Inc.,C=DE". Attributes without a keyword in RFC 2253 appear as OID with the value as DER in
/// hex: "1.2.840.113549.1.9.1=#1603612e62" is an e-mail address.
[[nodiscard]] std::string distinguished_name(const X509_NAME& name);

}  // namespace partita::tls
