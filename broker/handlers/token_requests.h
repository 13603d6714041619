#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "broker/catalog/catalog.h"
#include "broker/catalog/delegation_tokens.h"
#include "broker/handlers/request_context.h"
#include "protocol/types.h"

/// What the requests about delegation tokens have in common.
namespace partita::handlers {

/// Where Kafka says that there is no time.
inline constexpr std::int64_t kNoTokenTime = -1;

/// False for clients that nobody has asked who they are, and for bearers of tokens: they are answered
/// DELEGATION_TOKEN_REQUEST_NOT_ALLOWED before anything else.
[[nodiscard]] bool may_ask_about_tokens(const runtime::RequestContext& context);

/// delegation.token.secret.key; empty when there are no tokens.
[[nodiscard]] std::string token_secret(const runtime::RequestContext& context);
[[nodiscard]] catalog::TokenLifetimes token_lifetimes(const runtime::RequestContext& context);

/// The id of the token with this HMAC, or nothing. How long it takes tells nothing of the HMACs of others; it makes all of them
/// anew, some microseconds for each.
[[nodiscard]] std::optional<std::string_view> token_of_hmac(const catalog::CatalogSnapshot& catalog, std::string_view secret,
                                                            Bytes hmac);

/// What RenewDelegationToken and ExpireDelegationToken do alike: all but the decision, which gets the token that the HMAC names,
/// if any, the client and the period.
using DecideExpiry = catalog::Decision<catalog::MoveExpiryReply> (*)(const catalog::CatalogPointer& catalog,
                                                                     const catalog::MoveExpiryCommand& command,
                                                                     const catalog::TokenLifetimes& lifetimes, TimestampMs now);
[[nodiscard]] catalog::MoveExpiryReply move_token_expiry(runtime::RequestContext& context, Bytes hmac, std::int64_t period_ms,
                                                         DecideExpiry decide);

}  // namespace partita::handlers
