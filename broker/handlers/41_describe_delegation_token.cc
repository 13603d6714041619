// DescribeDelegationToken: v1-3.
//
//   v2: flexible; v3: the requester of the token.
//
// A client sees the tokens that it owns, requested or may renew, and those that ACLs let it describe. An empty list of owners
// means none; null means all. The reply includes each token's HMAC.

#include "protocol/messages/41_describe_delegation_token.h"

#include <algorithm>
#include <vector>

#include "broker/authentication/delegation_token.h"
#include "broker/handlers/access_audit.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/token_requests.h"
#include "broker/logs/turn.h"

namespace partita::handlers {

PARTITA_SERVES(describe_delegation_token, access::kDescribeToken, access::kDescribeTokensOfUser);

namespace {

using Response = DescribeDelegationTokenResponse;

std::vector<const access::DelegationToken*> visible_tokens(const runtime::RequestContext& context,
                                                           const DescribeDelegationTokenRequest& request) {
    std::vector<access::PrincipalName> owners;
    for (const auto& owner : request.owners) {
        owners.push_back({.type = std::string(owner.principal_type), .name = std::string(owner.principal_name)});
    }
    const auto requester = access::PrincipalName::of(context.principal());
    const auto may_see = [&](const access::DelegationToken& token) {
        return token.concerns(requester) || authorize_quietly(context, access::kDescribeToken, token.id) ||
               authorize_quietly(context, access::kDescribeTokensOfUser, token.owner.text());
    };
    const auto is_asked_for = [&](const access::DelegationToken& token) {
        return request.owners.is_null() ||
               std::ranges::any_of(owners, [&](const access::PrincipalName& owner) { return token.concerns(owner); });
    };
    std::vector<const access::DelegationToken*> visible;
    for (const access::DelegationTokenPointer& token : context.turn.topics().catalog->delegation_tokens()) {
        if (is_asked_for(*token) && may_see(*token)) {
            visible.push_back(token.get());
        }
    }
    return visible;
}

/// The texts belong to the catalog, which the turn keeps alive.
Response::DescribedDelegationToken described(Arena& arena, const access::DelegationToken& token, std::string_view secret,
                                             std::int16_t version) {
    Response::DescribedDelegationToken told;
    told.principal_type = token.owner.type;
    told.principal_name = token.owner.name;
    if (version >= 3) {
        told.token_requester_principal_type = token.requester.type;
        told.token_requester_principal_name = token.requester.name;
    }
    told.issue_timestamp = token.issued.value;
    told.expiry_timestamp = token.expires.value;
    told.max_timestamp = token.latest.value;
    told.token_id = token.id;
    told.hmac = as_bytes(arena.copy(authentication::token_hmac(secret, token.id)));
    ArenaVector<Response::DescribedDelegationTokenRenewer> renewers(arena, token.renewers.size());
    for (const access::PrincipalName& renewer : token.renewers) {
        renewers.push_back({.principal_type = renewer.type, .principal_name = renewer.name});
    }
    told.renewers = renewers;
    return told;
}

}  // namespace

void describe_delegation_token(runtime::RequestContext& context) {
    const DescribeDelegationTokenRequest* request = context.decode<DescribeDelegationTokenRequest>();
    if (request == nullptr) {
        return;
    }
    Response response;
    const std::string secret = token_secret(context);
    if (!may_ask_about_tokens(context)) {
        response.error_code = ErrorCode::delegation_token_request_not_allowed;
    } else if (secret.empty()) {
        response.error_code = ErrorCode::delegation_token_auth_disabled;
    } else {
        const std::vector<const access::DelegationToken*> visible = visible_tokens(context, *request);
        ArenaVector<Response::DescribedDelegationToken> tokens(context.arena(), visible.size());
        for (const access::DelegationToken* token : visible) {
            tokens.push_back(described(context.arena(), *token, secret, context.version()));
        }
        response.tokens = tokens;
    }
    context.reply(response);
}

}  // namespace partita::handlers
