#pragma once

#include <string>
#include <string_view>

#include "broker/authentication/scram.h"

/// The secret of a delegation token (KIP-48).
namespace partita::authentication {

/// The HMAC of a token: HMAC-SHA-512 of its id with `delegation.token.secret.key`, 64 bytes. Its base64 is the password of the
/// token's bearer. Another secret changes all tokens.
[[nodiscard]] std::string token_hmac(std::string_view secret, std::string_view token_id);

/// The SCRAM credential of the token with this HMAC. Computing it takes `kScramIterationsMin` iterations.
[[nodiscard]] ScramCredential token_credential(Hash hash, std::string_view hmac, std::string_view salt);

}  // namespace partita::authentication
