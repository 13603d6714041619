#include "broker/catalog/delegation_tokens.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "broker/catalog/catalog_core.h"
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

ErrorCode problem_of(const CreateDelegationToken& command, const CatalogSnapshot& catalog) {
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

DelegationToken with_period(const DelegationToken& token, std::int64_t period_ms, TimestampMs now) {
    DelegationToken moved = token;
    moved.expires = std::min(token.latest, after(now, period_ms));
    return moved;
}

Effects stored(const CatalogPointer& catalog, DelegationToken token) {
    ChangeBuilder change(catalog);
    change.put_delegation_token(std::make_shared<const DelegationToken>(std::move(token)));
    return change.finish();
}

}  // namespace

bool names_only_users(const CreateDelegationToken& command) {
    const auto is_user = [](const PrincipalName& principal) { return principal.type == access::kUserType; };
    return is_user(command.owner) && std::ranges::all_of(command.renewers, is_user);
}

Decision<CreateDelegationToken> CatalogCore::decide(const CreateDelegationToken& command, const CatalogContext& context) const {
    if (const ErrorCode error = problem_of(command, *snapshot_); error != ErrorCode::none) {
        return {{.error = error, .token = {}}, {}};
    }
    const TimestampMs now = context.now.wall;
    const std::int64_t lifetime_ms =
        command.lifetime_ms > 0 ? std::min(command.lifetime_ms, command.lifetimes.latest_ms) : command.lifetimes.latest_ms;
    const TimestampMs latest = after(now, lifetime_ms);
    CreateDelegationTokenResult answer{.token = {.id = fresh_token_id(context, *snapshot_),
                                                 .owner = command.owner,
                                                 .requester = command.requester,
                                                 .renewers = command.renewers,
                                                 .issued = now,
                                                 .expires = std::min(latest, after(now, command.lifetimes.until_renewal_ms)),
                                                 .latest = latest}};
    Effects effects = stored(snapshot_, answer.token);
    return {std::move(answer), std::move(effects)};
}

Decision<RenewDelegationToken> CatalogCore::decide(const RenewDelegationToken& command, const CatalogContext& context) const {
    const TimestampMs now = context.now.wall;
    const DelegationToken* const token = snapshot_->find_delegation_token(command.token_id);
    if (token == nullptr) {
        return {{.error = ErrorCode::delegation_token_not_found}, {}};
    }
    if (token->is_expired(now)) {
        return {{.error = ErrorCode::delegation_token_expired}, {}};
    }
    if (!token->may_be_renewed_by(command.requester)) {
        return {{.error = ErrorCode::delegation_token_owner_mismatch}, {}};
    }
    const std::int64_t period_ms = command.period_ms > 0 ? std::min(command.period_ms, command.lifetimes.until_renewal_ms)
                                                         : command.lifetimes.until_renewal_ms;
    DelegationToken moved = with_period(*token, period_ms, now);
    const std::int64_t expires_ms = moved.expires.value;
    return {{.expires_ms = expires_ms}, stored(snapshot_, std::move(moved))};
}

Decision<ExpireDelegationToken> CatalogCore::decide(const ExpireDelegationToken& command, const CatalogContext& context) const {
    const TimestampMs now = context.now.wall;
    const DelegationToken* const token = snapshot_->find_delegation_token(command.token_id);
    if (token == nullptr) {
        return {{.error = ErrorCode::delegation_token_not_found}, {}};
    }
    if (!token->may_be_renewed_by(command.requester)) {
        return {{.error = ErrorCode::delegation_token_owner_mismatch}, {}};
    }
    if (command.period_ms >= 0) {
        if (token->is_expired(now)) {
            return {{.error = ErrorCode::delegation_token_expired}, {}};
        }
        DelegationToken moved = with_period(*token, command.period_ms, now);
        const std::int64_t expires_ms = moved.expires.value;
        return {{.expires_ms = expires_ms}, stored(snapshot_, std::move(moved))};
    }
    ChangeBuilder change(snapshot_);
    change.remove_delegation_tokens({&token->id, 1});
    return {{.expires_ms = now.value}, change.finish()};
}

Decision<RemoveExpiredTokens> CatalogCore::decide(const RemoveExpiredTokens&, const CatalogContext& context) const {
    std::vector<std::string> expired;
    for (const access::DelegationTokenPointer& token : snapshot_->delegation_tokens()) {
        if (token->is_expired(context.now.wall)) {
            expired.push_back(token->id);
        }
    }
    ChangeBuilder change(snapshot_);
    if (!expired.empty()) {
        change.remove_delegation_tokens(expired);
    }
    return {{std::move(expired)}, change.finish()};
}

bool has_expired_tokens(const CatalogSnapshot& catalog, TimestampMs now) {
    return std::ranges::any_of(catalog.delegation_tokens(),
                               [&](const access::DelegationTokenPointer& token) { return token->is_expired(now); });
}

}  // namespace partita::catalog
