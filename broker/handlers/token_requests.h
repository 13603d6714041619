#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "broker/access/delegation_token.h"
#include "broker/catalog/catalog.h"
#include "broker/catalog/delegation_tokens.h"
#include "broker/handlers/request_context.h"
#include "protocol/types.h"

/// Code that the requests for delegation tokens share.
namespace partita::handlers {

/// Kafka's value for a missing time.
inline constexpr std::int64_t kNoTokenTime = -1;

/// False for unauthenticated clients, and for clients that authenticated with a token. The handler answers them with
/// DELEGATION_TOKEN_REQUEST_NOT_ALLOWED before any other check.
[[nodiscard]] bool may_ask_about_tokens(const runtime::RequestContext& context);

/// delegation.token.secret.key; empty if the broker has no tokens.
[[nodiscard]] std::string token_secret(const runtime::RequestContext& context);
[[nodiscard]] catalog::TokenLifetimes token_lifetimes(const runtime::RequestContext& context);

/// The id of the token with this HMAC, or nothing. The duration reveals nothing about other HMACs: the function computes the HMAC
/// of every token, a few microseconds each.
[[nodiscard]] std::optional<std::string_view> token_of_hmac(const catalog::CatalogSnapshot& catalog, std::string_view secret,
                                                            Bytes hmac);

/// The token whose expiry a client wants to move.
struct NamedToken {
    /// Empty for an HMAC that names no token. Valid until the end of the turn.
    std::string_view id;
    access::PrincipalName requester;
};
/// The token of a RenewDelegationToken or ExpireDelegationToken with this HMAC, or the refusal of the request.
[[nodiscard]] std::expected<NamedToken, catalog::MoveExpiryResult> named_token(const runtime::RequestContext& context,
                                                                               Bytes hmac);

}  // namespace partita::handlers
