#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

/// The common part of RenewDelegationToken and ExpireDelegationToken: all but the decision. `decide` receives the token that the
/// HMAC names, if any, the client and the period.
using DecideExpiry = catalog::Decision<catalog::MoveExpiryReply> (*)(const catalog::CatalogPointer& catalog,
                                                                     const catalog::MoveExpiryCommand& command,
                                                                     const catalog::TokenLifetimes& lifetimes, TimestampMs now);
[[nodiscard]] catalog::MoveExpiryReply move_token_expiry(runtime::RequestContext& context, Bytes hmac, std::int64_t period_ms,
                                                         DecideExpiry decide);

}  // namespace partita::handlers
