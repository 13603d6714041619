#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/tls/store.h"

/// Keys and certificates as PEM text. As in Kafka the lines of a block may be one line, because that is how they stand in
/// properties files, and what stands between blocks is passed over.
namespace partita::tls {

/// The only private key in `text`: PKCS #8, encrypted or not, or what OpenSSL wrote before it (RSA PRIVATE KEY, EC PRIVATE KEY).
/// `password` is not used for one that is not encrypted. Errors say what is wrong, for people, and no secret.
[[nodiscard]] std::expected<PrivateKey, std::string> parse_pem_key(std::string_view text,
                                                                   std::optional<std::string_view> password);

/// All certificates in `text`, at least one.
[[nodiscard]] std::expected<std::vector<Certificate>, std::string> parse_pem_certificates(std::string_view text);

}  // namespace partita::tls
