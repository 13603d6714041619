#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "broker/client/cluster.h"

/// Delegation tokens (KIP-48): secrets that stand for their owner's login.
namespace partita::client {

/// "User:alice".
struct TokenPrincipal {
    std::string type;
    std::string name;

    friend bool operator==(const TokenPrincipal&, const TokenPrincipal&) = default;
};
[[nodiscard]] std::string to_string(const TokenPrincipal& principal);

struct DelegationToken {
    std::string id;
    /// In base64, the form that people copy.
    std::string hmac;
    TokenPrincipal owner;
    TokenPrincipal requester;
    std::vector<TokenPrincipal> renewers;
    /// Milliseconds since 1970.
    std::int64_t issued_ms = 0;
    std::int64_t expires_ms = 0;
    std::int64_t max_ms = 0;
};

/// Creates a token for the caller, or for `owner`. -1: it lives as long as the broker allows.
[[nodiscard]] Result<DelegationToken> create_delegation_token(Cluster& cluster, const std::optional<TokenPrincipal>& owner,
                                                              const std::vector<TokenPrincipal>& renewers,
                                                              std::int64_t max_lifetime_ms);
/// Returns the new expiry time. Fails with `bad_setting` if the HMAC is not base64.
[[nodiscard]] Result<std::int64_t> renew_delegation_token(Cluster& cluster, const std::string& hmac, std::int64_t period_ms);
/// -1: at once.
[[nodiscard]] Result<std::int64_t> expire_delegation_token(Cluster& cluster, const std::string& hmac, std::int64_t period_ms);
/// Lists the tokens of these owners; null: all tokens that the client may see.
[[nodiscard]] Result<std::vector<DelegationToken>> describe_delegation_tokens(
    Cluster& cluster, const std::optional<std::vector<TokenPrincipal>>& owners);

}  // namespace partita::client
