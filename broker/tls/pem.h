#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/tls/store.h"

/// Keys and certificates as PEM text. As in Kafka, a block may be a single line, because properties files have it so, and text
/// between blocks is ignored.
namespace partita::tls {

/// Parses the only private key in `text`: PKCS #8, encrypted or not, or OpenSSL's older formats (RSA PRIVATE KEY, EC PRIVATE
/// KEY). `password` has no effect on an unencrypted key. Errors say what is wrong, for people, and contain no secret.
[[nodiscard]] std::expected<PrivateKey, std::string> parse_pem_key(std::string_view text,
                                                                   std::optional<std::string_view> password);

/// All certificates in `text`, at least one.
[[nodiscard]] std::expected<std::vector<Certificate>, std::string> parse_pem_certificates(std::string_view text);

}  // namespace partita::tls
