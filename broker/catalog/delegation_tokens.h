#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "broker/access/delegation_token.h"
#include "broker/catalog/catalog.h"
#include "broker/catalog/commands.h"

/// CreateDelegationToken, RenewDelegationToken and ExpireDelegationToken (KIP-48): Kafka's rules and errors. The caller has
/// already decided whether the client may ask at all, and which token an HMAC names.
namespace partita::catalog {

/// Most tokens in a catalog: each is also a secret that a client must keep. Kafka has no such limit.
inline constexpr std::size_t kDelegationTokensMax = 10'000;
/// Most renewers of a token, and the longest name in it. Kafka has no such limits.
inline constexpr std::size_t kTokenRenewersMax = 100;
inline constexpr std::size_t kTokenNameBytesMax = 1024;

/// The lifetimes of tokens: delegation.token.max.lifetime.ms, delegation.token.expiry.time.ms.
struct TokenLifetimes {
    std::int64_t latest_ms = 0;
    std::int64_t until_renewal_ms = 0;
};

/// The token, or the reason for the refusal.
struct CreateDelegationTokenResult {
    ErrorCode error = ErrorCode::none;
    access::DelegationToken token;
};

struct CreateDelegationToken {
    using Result = CreateDelegationTokenResult;
    access::PrincipalName owner;
    access::PrincipalName requester;
    std::vector<access::PrincipalName> renewers;
    /// 0 and below: as long as the lifetimes allow.
    std::int64_t lifetime_ms = 0;
    TokenLifetimes lifetimes;
};

/// False for principals of other types, which could neither log in nor renew a token.
[[nodiscard]] bool names_only_users(const CreateDelegationToken& command);

struct MoveExpiryResult {
    ErrorCode error = ErrorCode::none;
    /// When the token expires; for a removed token this is now.
    std::int64_t expires_ms = 0;
};

struct RenewDelegationToken {
    using Result = MoveExpiryResult;
    /// Empty for an HMAC that names no token.
    std::string_view token_id;
    access::PrincipalName requester;
    /// The period from now on; 0 and below: as long as the lifetimes allow.
    std::int64_t period_ms = 0;
    TokenLifetimes lifetimes;
};

struct ExpireDelegationToken {
    using Result = MoveExpiryResult;
    /// Empty for an HMAC that names no token.
    std::string_view token_id;
    access::PrincipalName requester;
    /// The period from now on. A value below 0 removes the token, even one that has expired.
    std::int64_t period_ms = 0;
};

struct RemoveExpiredTokensResult {
    /// The removed tokens.
    std::vector<std::string> ids;
};

struct RemoveExpiredTokens {
    using Result = RemoveExpiredTokensResult;
};

/// True if some tokens have expired.
[[nodiscard]] bool has_expired_tokens(const CatalogSnapshot& catalog, TimestampMs now);

}  // namespace partita::catalog
