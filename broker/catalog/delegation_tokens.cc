#include "broker/catalog/delegation_tokens.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "broker/catalog/change_builder.h"
#include "protocol/assert.h"

namespace partita::catalog {
namespace {

using access::DelegationToken;
using access::PrincipalName;

/// Adds a period to a time. A sum that would overflow gives the end of time.
TimestampMs after(TimestampMs now, std::int64_t period_ms) {
    constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
    return {period_ms > kLast - now.value ? kLast : now.value + period_ms};
}

bool is_too_long(const PrincipalName& principal) { return principal.name.size() > kTokenNameBytesMax; }

ErrorCode problem_of(const CreateDelegationTokenCommand& command, const CatalogSnapshot& catalog) {
    if (!names_only_users(command)) {
        return ErrorCode::invalid_principal_type;
    }
    if (command.renewers.size() > kTokenRenewersMax || is_too_long(command.owner) ||
        std::ranges::any_of(command.renewers, is_too_long)) {
        return ErrorCode::invalid_request;
    }
    return catalog.delegation_tokens().size() >= kDelegationTokensMax ? ErrorCode::policy_violation : ErrorCode::none;
}

/// Returns a random id. Kafka avoids ids that a command line would take for an option.
std::string fresh_token_id(const CatalogContext& context, const CatalogSnapshot& catalog) {
    constexpr int kAttempts = 64;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        std::string id = context.next_topic_id().to_string();
        if (!id.starts_with('-') && catalog.find_delegation_token(id) == nullptr) {
            return id;
        }
    }
    assertion_failed("a fresh token id", "the generator of ids repeats itself");
}

Decision<MoveExpiryReply> refused(ErrorCode error) { return {{.error = error}, {}}; }

Decision<MoveExpiryReply> move_expiry(const CatalogPointer& catalog, const DelegationToken& token, std::int64_t period_ms,
                                      TimestampMs now) {
    DelegationToken moved = token;
    moved.expires = std::min(token.latest, after(now, period_ms));
    const std::int64_t expires_ms = moved.expires.value;
    ChangeBuilder change(catalog);
    change.put_delegation_token(std::make_shared<const DelegationToken>(std::move(moved)));
    return {{.expires_ms = expires_ms}, change.finish()};
}

}  // namespace

bool names_only_users(const CreateDelegationTokenCommand& command) {
    const auto is_user = [](const PrincipalName& principal) { return principal.type == access::kUserType; };
    return is_user(command.owner) && std::ranges::all_of(command.renewers, is_user);
}

Decision<CreateDelegationTokenReply> create_delegation_token(const CatalogPointer& catalog,
                                                             const CreateDelegationTokenCommand& command,
                                                             const TokenLifetimes& lifetimes, const CatalogContext& context) {
    if (const ErrorCode error = problem_of(command, *catalog); error != ErrorCode::none) {
        return {{.error = error, .token = {}}, {}};
    }
    const TimestampMs now = context.now.wall;
    const std::int64_t lifetime_ms =
        command.lifetime_ms > 0 ? std::min(command.lifetime_ms, lifetimes.latest_ms) : lifetimes.latest_ms;
    const TimestampMs latest = after(now, lifetime_ms);
    CreateDelegationTokenReply reply{.token = {.id = fresh_token_id(context, *catalog),
                                               .owner = command.owner,
                                               .requester = command.requester,
                                               .renewers = command.renewers,
                                               .issued = now,
                                               .expires = std::min(latest, after(now, lifetimes.until_renewal_ms)),
                                               .latest = latest}};
    ChangeBuilder change(catalog);
    change.put_delegation_token(std::make_shared<const DelegationToken>(reply.token));
    return {std::move(reply), change.finish()};
}

Decision<MoveExpiryReply> renew_delegation_token(const CatalogPointer& catalog, const MoveExpiryCommand& command,
                                                 const TokenLifetimes& lifetimes, TimestampMs now) {
    const DelegationToken* const token = catalog->find_delegation_token(command.token_id);
    if (token == nullptr) {
        return refused(ErrorCode::delegation_token_not_found);
    }
    if (token->is_expired(now)) {
        return refused(ErrorCode::delegation_token_expired);
    }
    if (!token->may_be_renewed_by(command.requester)) {
        return refused(ErrorCode::delegation_token_owner_mismatch);
    }
    const std::int64_t period_ms =
        command.period_ms > 0 ? std::min(command.period_ms, lifetimes.until_renewal_ms) : lifetimes.until_renewal_ms;
    return move_expiry(catalog, *token, period_ms, now);
}

Decision<MoveExpiryReply> expire_delegation_token(const CatalogPointer& catalog, const MoveExpiryCommand& command,
                                                  const TokenLifetimes& /*lifetimes*/, TimestampMs now) {
    const DelegationToken* const token = catalog->find_delegation_token(command.token_id);
    if (token == nullptr) {
        return refused(ErrorCode::delegation_token_not_found);
    }
    if (!token->may_be_renewed_by(command.requester)) {
        return refused(ErrorCode::delegation_token_owner_mismatch);
    }
    if (command.period_ms >= 0) {
        return token->is_expired(now) ? refused(ErrorCode::delegation_token_expired)
                                      : move_expiry(catalog, *token, command.period_ms, now);
    }
    ChangeBuilder change(catalog);
    change.remove_delegation_tokens({&token->id, 1});
    return {{.expires_ms = now.value}, change.finish()};
}

Decision<std::vector<std::string>> remove_expired_tokens(const CatalogPointer& catalog, TimestampMs now) {
    std::vector<std::string> expired;
    for (const access::DelegationTokenPointer& token : catalog->delegation_tokens()) {
        if (token->is_expired(now)) {
            expired.push_back(token->id);
        }
    }
    ChangeBuilder change(catalog);
    if (!expired.empty()) {
        change.remove_delegation_tokens(expired);
    }
    return {std::move(expired), change.finish()};
}

bool has_expired_tokens(const CatalogSnapshot& catalog, TimestampMs now) {
    return std::ranges::any_of(catalog.delegation_tokens(),
                               [&](const access::DelegationTokenPointer& token) { return token->is_expired(now); });
}

}  // namespace partita::catalog
