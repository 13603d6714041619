#include "broker/handlers/token_requests.h"

#include "broker/authentication/crypto.h"
#include "broker/authentication/delegation_token.h"
#include "broker/config/current_config.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"

namespace partita::handlers {

bool may_ask_about_tokens(const runtime::RequestContext& context) {
    return context.session().is_known() && !context.session().is_by_token;
}

std::string token_secret(const runtime::RequestContext& context) {
    return context.services.config.get()->delegation_token_secret_key;
}

catalog::TokenLifetimes token_lifetimes(const runtime::RequestContext& context) {
    const auto config = context.services.config.get();
    return {.latest_ms = config->delegation_token_max_lifetime_ms, .until_renewal_ms = config->delegation_token_expiry_time_ms};
}

std::optional<std::string_view> token_of_hmac(const catalog::CatalogSnapshot& catalog, std::string_view secret, Bytes hmac) {
    std::optional<std::string_view> found;
    for (const access::DelegationTokenPointer& token : catalog.delegation_tokens()) {
        if (authentication::equal_in_constant_time(authentication::token_hmac(secret, token->id), as_text(hmac))) {
            found = token->id;
        }
    }
    return found;
}

std::expected<NamedToken, catalog::MoveExpiryResult> named_token(const runtime::RequestContext& context, Bytes hmac) {
    using Refusal = catalog::MoveExpiryResult;
    if (!may_ask_about_tokens(context)) {
        return std::unexpected(Refusal{.error = ErrorCode::delegation_token_request_not_allowed, .expires_ms = kNoTokenTime});
    }
    const std::string secret = token_secret(context);
    if (secret.empty()) {
        return std::unexpected(Refusal{.error = ErrorCode::delegation_token_auth_disabled});
    }
    return NamedToken{.id = token_of_hmac(*context.turn.topics().catalog, secret, hmac).value_or(""),
                      .requester = access::PrincipalName::of(context.principal())};
}

}  // namespace partita::handlers
