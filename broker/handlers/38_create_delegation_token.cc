// CreateDelegationToken: v1-3.
//
//   v2: flexible; v3: owner and requester (KIP-373).
//
// Unauthenticated clients get no token, and clients that authenticated with a token get no further ones. The checks follow
// Kafka's order: the client, the owner, the renewers, and whether tokens are enabled. For an owner that is not a user, Kafka
// makes a token with which the user of the same name logs in. This broker refuses such an owner as it refuses such a renewer. An
// owner without a type makes Kafka fail internally, so the answer here is the same error.

#include "protocol/messages/38_create_delegation_token.h"

#include "broker/authentication/delegation_token.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/token_requests.h"
#include "broker/logs/turn.h"
#include "broker/runtime/catalog/catalog.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(create_delegation_token, catalog, access::kCreateTokensOfUser);

namespace {

using Result = catalog::CreateDelegationTokenResult;
using Response = CreateDelegationTokenResponse;

catalog::CreateDelegationToken command_of(const runtime::RequestContext& context, const CreateDelegationTokenRequest& request) {
    const auto requester = access::PrincipalName::of(context.principal());
    catalog::CreateDelegationToken command{.owner = requester,
                                           .requester = requester,
                                           .renewers = {},
                                           .lifetime_ms = request.max_lifetime_ms,
                                           .lifetimes = token_lifetimes(context)};
    if (const std::string_view owner = request.owner_principal_name.value_or(""); !owner.empty()) {
        command.owner = {.type = std::string(request.owner_principal_type.value_or("")), .name = std::string(owner)};
    }
    for (const auto& renewer : request.renewers) {
        command.renewers.push_back({.type = std::string(renewer.principal_type), .name = std::string(renewer.principal_name)});
    }
    return command;
}

/// The error that does not depend on the catalog.
ErrorCode refusal_of(const runtime::RequestContext& context, const catalog::CreateDelegationToken& command) {
    if (!may_ask_about_tokens(context)) {
        return ErrorCode::delegation_token_request_not_allowed;
    }
    if (command.owner != command.requester && !authorize(context, access::kCreateTokensOfUser, command.owner.text())) {
        return ErrorCode::delegation_token_authorization_failed;
    }
    return catalog::names_only_users(command) ? ErrorCode::none : ErrorCode::invalid_principal_type;
}

Result created(runtime::RequestContext& context, runtime::Catalog& catalog, const catalog::CreateDelegationToken& command) {
    const auto result = catalog.change(context.turn, command);
    return result.value_or(Result{.error = ErrorCode::kafka_storage_error, .token = {}});
}

Response response_to(const runtime::RequestContext& context, const access::PrincipalName& owner,
                     const access::PrincipalName& requester, ErrorCode error) {
    Response response;
    response.error_code = error;
    response.principal_type = owner.type;
    response.principal_name = owner.name;
    if (context.version() >= 3) {
        response.token_requester_principal_type = requester.type;
        response.token_requester_principal_name = requester.name;
    }
    return response;
}

/// Refuses the request before any look-up.
void refuse(runtime::RequestContext& context, const access::PrincipalName& owner, const access::PrincipalName& requester,
            ErrorCode error) {
    Response response = response_to(context, owner, requester, error);
    response.issue_timestamp_ms = kNoTokenTime;
    response.expiry_timestamp_ms = kNoTokenTime;
    response.max_timestamp_ms = kNoTokenTime;
    context.reply(response);
}

}  // namespace

void create_delegation_token(runtime::RequestContext& context, runtime::Catalog& catalog) {
    const CreateDelegationTokenRequest* request = context.decode<CreateDelegationTokenRequest>();
    if (request == nullptr) {
        return;
    }
    if (!request->owner_principal_name.value_or("").empty() && !request->owner_principal_type) {
        const auto nobody = access::PrincipalName::of(*access::Principal::anonymous());
        return refuse(context, nobody, nobody, ErrorCode::unknown_server_error);
    }
    const catalog::CreateDelegationToken command = command_of(context, *request);
    if (const ErrorCode error = refusal_of(context, command); error != ErrorCode::none) {
        return refuse(context, command.owner, command.requester, error);
    }
    const std::string secret = token_secret(context);
    if (secret.empty()) {
        context.reply(response_to(context, command.owner, command.requester, ErrorCode::delegation_token_auth_disabled));
        return;
    }
    const Result result = created(context, catalog, command);
    Response response = response_to(context, command.owner, command.requester, result.error);
    std::string hmac;
    if (result.error == ErrorCode::none) {
        hmac = authentication::token_hmac(secret, result.token.id);
        response.issue_timestamp_ms = result.token.issued.value;
        response.expiry_timestamp_ms = result.token.expires.value;
        response.max_timestamp_ms = result.token.latest.value;
        response.token_id = result.token.id;
        response.hmac = as_bytes(hmac);
    }
    context.reply(response);
    authentication::wipe(hmac);
}

}  // namespace partita::handlers
