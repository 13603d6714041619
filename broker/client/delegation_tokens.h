#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "broker/client/cluster.h"

/// Delegation tokens (KIP-48): secrets that stand for the login of their owner.
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
    /// In base64, as people pass it on.
    std::string hmac;
    TokenPrincipal owner;
    TokenPrincipal requester;
    std::vector<TokenPrincipal> renewers;
    /// Milliseconds since 1970.
    std::int64_t issued_ms = 0;
    std::int64_t expires_ms = 0;
    std::int64_t max_ms = 0;
};

/// Makes a token for who asks, or for `owner`. -1: it lives as long as the
/// broker lets it.
[[nodiscard]] Result<DelegationToken> create_delegation_token(Cluster& cluster, const std::optional<TokenPrincipal>& owner,
                                                              const std::vector<TokenPrincipal>& renewers,
                                                              std::int64_t max_lifetime_ms);
/// When the token expires from now on. bad_setting: the HMAC is no base64.
[[nodiscard]] Result<std::int64_t> renew_delegation_token(Cluster& cluster, const std::string& hmac, std::int64_t period_ms);
/// -1: at once.
[[nodiscard]] Result<std::int64_t> expire_delegation_token(Cluster& cluster, const std::string& hmac, std::int64_t period_ms);
/// Those of the owners; null: all that the client may know of.
[[nodiscard]] Result<std::vector<DelegationToken>> describe_delegation_tokens(
    Cluster& cluster, const std::optional<std::vector<TokenPrincipal>>& owners);

}  // namespace partita::client
