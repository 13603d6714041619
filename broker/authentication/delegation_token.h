#pragma once

#include <string>
#include <string_view>

#include "broker/authentication/scram.h"

/// What makes a delegation token a secret (KIP-48).
namespace partita::authentication {

/// The HMAC of a token: HMAC-SHA-512 of its id with `delegation.token.secret.key`, 64 bytes. Its base64 is the password with
/// which the token's bearer logs in. With another secret all tokens are others.
[[nodiscard]] std::string token_hmac(std::string_view secret, std::string_view token_id);

/// What SCRAM goes by for the token with this HMAC. It costs `kScramIterationsMin` iterations.
[[nodiscard]] ScramCredential token_credential(Hash hash, std::string_view hmac, std::string_view salt);

}  // namespace partita::authentication
