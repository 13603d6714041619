#include "broker/client/delegation_tokens.h"

#include <string_view>
#include <utility>

#include "broker/authentication/crypto.h"
#include "protocol/messages/38_create_delegation_token.h"
#include "protocol/messages/39_renew_delegation_token.h"
#include "protocol/messages/40_expire_delegation_token.h"
#include "protocol/messages/41_describe_delegation_token.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

TokenPrincipal principal_of(std::string_view type, std::string_view name) { return {std::string(type), std::string(name)}; }

Result<std::string> bytes_of_hmac(const std::string& hmac) {
    auto bytes = authentication::from_base64(hmac);
    if (!bytes) {
        return std::unexpected(Failure{.kind = Failure::Kind::bad_setting, .message = "the HMAC is not base64: " + hmac});
    }
    return std::move(*bytes);
}

/// Renewing and expiring differ only in their names.
template <class Response, class Request>
Result<std::int64_t> change_expiry(Cluster& cluster, std::string_view name, const Request& request) {
    PARTITA_TRY_ASSIGN(auto reply, cluster.ask<Response>(Route::any(), {.name = name}, request));
    if (reply->error_code != ErrorCode::none) {
        return std::unexpected(refusal(reply->error_code));
    }
    return reply->expiry_timestamp_ms;
}

}  // namespace

std::string to_string(const TokenPrincipal& principal) { return principal.type + ":" + principal.name; }

Result<DelegationToken> create_delegation_token(Cluster& cluster, const std::optional<TokenPrincipal>& owner,
                                                const std::vector<TokenPrincipal>& renewers, std::int64_t max_lifetime_ms) {
    std::vector<CreateDelegationTokenRequest::CreatableRenewers> asked;
    for (const TokenPrincipal& renewer : renewers) {
        asked.push_back({renewer.type, renewer.name});
    }
    CreateDelegationTokenRequest request{.renewers = asked, .max_lifetime_ms = max_lifetime_ms};
    if (owner) {
        request.owner_principal_type = owner->type;
        request.owner_principal_name = owner->name;
    }
    PARTITA_TRY_ASSIGN(auto reply,
                       cluster.ask<CreateDelegationTokenResponse>(Route::any(), {.name = "createDelegationToken"}, request));
    const CreateDelegationTokenResponse& made = *reply;
    if (made.error_code != ErrorCode::none) {
        return std::unexpected(refusal(made.error_code));
    }
    return DelegationToken{.id = std::string(made.token_id),
                           .hmac = authentication::to_base64(as_text(made.hmac)),
                           .owner = principal_of(made.principal_type, made.principal_name),
                           .requester = principal_of(made.token_requester_principal_type, made.token_requester_principal_name),
                           .renewers = renewers,
                           .issued_ms = made.issue_timestamp_ms,
                           .expires_ms = made.expiry_timestamp_ms,
                           .max_ms = made.max_timestamp_ms};
}

Result<std::int64_t> renew_delegation_token(Cluster& cluster, const std::string& hmac, std::int64_t period_ms) {
    PARTITA_TRY_ASSIGN(const auto bytes, bytes_of_hmac(hmac));
    return change_expiry<RenewDelegationTokenResponse>(
        cluster, "renewDelegationToken", RenewDelegationTokenRequest{.hmac = as_bytes(bytes), .renew_period_ms = period_ms});
}

Result<std::int64_t> expire_delegation_token(Cluster& cluster, const std::string& hmac, std::int64_t period_ms) {
    PARTITA_TRY_ASSIGN(const auto bytes, bytes_of_hmac(hmac));
    return change_expiry<ExpireDelegationTokenResponse>(
        cluster, "expireDelegationToken",
        ExpireDelegationTokenRequest{.hmac = as_bytes(bytes), .expiry_time_period_ms = period_ms});
}

Result<std::vector<DelegationToken>> describe_delegation_tokens(Cluster& cluster,
                                                                const std::optional<std::vector<TokenPrincipal>>& owners) {
    std::vector<DescribeDelegationTokenRequest::DescribeDelegationTokenOwner> asked;
    DescribeDelegationTokenRequest request{.owners = nullptr};
    if (owners) {
        for (const TokenPrincipal& owner : *owners) {
            asked.push_back({owner.type, owner.name});
        }
        request.owners = asked;
    }
    PARTITA_TRY_ASSIGN(auto reply,
                       cluster.ask<DescribeDelegationTokenResponse>(Route::any(), {.name = "describeDelegationToken"}, request));
    if (reply->error_code != ErrorCode::none) {
        return std::unexpected(refusal(reply->error_code));
    }
    std::vector<DelegationToken> tokens;
    for (const auto& told : reply->tokens) {
        DelegationToken& token = tokens.emplace_back();
        token = {.id = std::string(told.token_id),
                 .hmac = authentication::to_base64(as_text(told.hmac)),
                 .owner = principal_of(told.principal_type, told.principal_name),
                 .requester = principal_of(told.token_requester_principal_type, told.token_requester_principal_name),
                 .renewers = {},
                 .issued_ms = told.issue_timestamp,
                 .expires_ms = told.expiry_timestamp,
                 .max_ms = told.max_timestamp};
        for (const auto& renewer : told.renewers) {
            token.renewers.push_back(principal_of(renewer.principal_type, renewer.principal_name));
        }
    }
    return tokens;
}

}  // namespace partita::client
