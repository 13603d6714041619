// kafka-delegation-tokens: creates, renews, expires and shows delegation tokens.

#include <array>
#include <ctime>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "broker/client/delegation_tokens.h"
#include "broker/tools/text.h"
#include "broker/tools/tools.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

using client::DelegationToken;
using client::TokenPrincipal;

constexpr Option kTokensOptions[] = {
    kBootstrapServer,
    {"command-config", "file", "read settings of the client, which has to log in, from this file"},
    kHelp,
    kVersion,
    {"create", "", "create a token"},
    {"renew", "", "let a token expire later"},
    {"expire", "", "let a token expire sooner, or at once"},
    {"describe", "",
     "show tokens of the named owners; without owners all that the client may see (kafka-delegation-tokens: none)"},
    repeatable({"owner-principal", "type:name", "name the token's owner: User:alice", {}, {}, true}),
    repeatable(
        {"renewer-principal", "type:name", "let this principal renew the token beside its owner; repeatable", {}, {}, true}),
    {"max-life-time-period", "ms", "limit the token's life, in milliseconds; -1 for the broker's maximum", {}, {}, true, true},
    {"renew-time-period",
     "ms",
     "renew the token for this time, in milliseconds; -1 for the broker's delegation.token.expiry.time.ms",
     {},
     {},
     true,
     true},
    {"expiry-time-period", "ms", "let the token expire after this time, in milliseconds; -1 for at once", {}, {}, true, true},
    {"hmac", "HMAC", "name the token by its HMAC, in base64", {}, {}, true},
};

constexpr Rule kTokensRules[] = {
    {Requires::exactly_one_of,
     "",
     {"create", "renew", "expire", "describe"},
     "Command must include exactly one action: --create, --renew, --expire or "
     "--describe"},
    {Requires::all_of, "", {"bootstrap-server", "command-config"}},
    {Requires::all_of, "create", {"max-life-time-period"}},
    {Requires::all_of, "renew", {"hmac", "renew-time-period"}},
    {Requires::all_of, "expire", {"hmac", "expiry-time-period"}},
    {Requires::none_of, "create", {"hmac", "renew-time-period", "expiry-time-period"}},
    {Requires::none_of, "renew", {"renewer-principal", "max-life-time-period", "expiry-time-period", "owner-principal"}},
    {Requires::none_of, "expire", {"renew", "max-life-time-period", "renew-time-period", "owner-principal"}},
    {Requires::none_of, "describe", {"renew-time-period", "max-life-time-period", "hmac", "expiry-time-period"}},
};

std::unexpected<Ending> refused_by_broker(const client::Failure& failure) {
    return failed(failure.kind == client::Failure::Kind::bad_setting ? failure.message : java_text(failure));
}

Outcome<std::vector<TokenPrincipal>> token_principals(const Options& options, std::string_view option) {
    std::vector<TokenPrincipal> found;
    for (const std::string& word : options.values(option)) {
        const std::string text = trimmed(word);
        const std::size_t colon = text.find(':');
        if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
            return failed("expected a string in format principalType:principalName but got " + text);
        }
        found.push_back({text.substr(0, colon), text.substr(colon + 1)});
    }
    return found;
}

/// "[User:a, User:b]".
std::string list_of_principals(const std::vector<TokenPrincipal>& principals) {
    std::vector<std::string> texts;
    for (const TokenPrincipal& principal : principals) {
        texts.push_back(client::to_string(principal));
    }
    return "[" + joined(texts, ", ") + "]";
}

/// To the minute, in local time.
std::string minute_of(std::int64_t time_ms) {
    const std::time_t seconds = time_ms / 1000;
    std::tm parts{};
    std::array<char, 32> text{};
    ::localtime_r(&seconds, &parts);
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M", &parts)};
}

std::string token_row(const std::array<std::string, 8>& cells) {
    constexpr std::array<std::size_t, 8> kWidths{15, 30, 15, 15, 25, 15, 15, 15};
    std::string text = "\n";
    for (std::size_t at = 0; at < cells.size(); ++at) {
        text += (at == 0 ? "" : " ") + padded(cells[at], kWidths[at]);
    }
    return text + "\n";
}

std::string table_of(const std::vector<DelegationToken>& tokens) {
    std::string text = token_row({"TOKENID", "HMAC", "OWNER", "REQUESTER", "RENEWERS", "ISSUEDATE", "EXPIRYDATE", "MAXDATE"});
    for (const DelegationToken& token : tokens) {
        text += token_row({token.id, token.hmac, client::to_string(token.owner), client::to_string(token.requester),
                           list_of_principals(token.renewers), minute_of(token.issued_ms), minute_of(token.expires_ms),
                           minute_of(token.max_ms)});
    }
    return text;
}

Outcome<std::int64_t> period_of(const Options& options, std::string_view option) {
    const auto number =
        options.integer(option, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
    if (!number) {
        return refused(number.error());
    }
    if (!*number) {
        return refused("Option " + std::string(option) + " requires an argument");
    }
    return **number;
}

Outcome<int> make_token(client::Cluster& cluster, const Options& options, const Surroundings& surroundings) {
    PARTITA_TRY_ASSIGN(const auto renewers, token_principals(options, "renewer-principal"));
    PARTITA_TRY_ASSIGN(const auto lifetime_ms, period_of(options, "max-life-time-period"));
    surroundings.print("Calling create token operation with renewers :" + list_of_principals(renewers) +
                       " , max-life-time-period :" + std::to_string(lifetime_ms) + "\n");
    PARTITA_TRY_ASSIGN(const auto owners, token_principals(options, "owner-principal"));
    const auto owner = owners.empty() ? std::nullopt : std::optional(owners.front());
    const auto token = client::create_delegation_token(cluster, owner, renewers, lifetime_ms);
    if (!token) {
        return refused_by_broker(token.error());
    }
    surroundings.print("Created delegation token with tokenId : " + token->id + "\n" + table_of({*token}));
    return 0;
}

Outcome<int> change_expiry(client::Cluster& cluster, const Options& options, const Surroundings& surroundings, bool renews) {
    const std::string_view name = renews ? "renew" : "expire";
    PARTITA_TRY_ASSIGN(const auto period_ms, period_of(options, renews ? "renew-time-period" : "expiry-time-period"));
    const std::string hmac = options.value("hmac");
    surroundings.print("Calling " + std::string(name) + " token operation with hmac :" + hmac + " , " + std::string(name) +
                       "-time-period :" + std::to_string(period_ms) + "\n");
    const auto expires_ms = renews ? client::renew_delegation_token(cluster, hmac, period_ms)
                                   : client::expire_delegation_token(cluster, hmac, period_ms);
    if (!expires_ms) {
        return refused_by_broker(expires_ms.error());
    }
    surroundings.print("Completed " + std::string(name) + " operation. New expiry date : " + minute_of(*expires_ms));
    return 0;
}

Outcome<int> show_tokens(client::Cluster& cluster, const Options& options, const Surroundings& surroundings) {
    PARTITA_TRY_ASSIGN(const auto owners, token_principals(options, "owner-principal"));
    surroundings.print(owners.empty() ? "Calling describe token operation for current user.\n"
                                      : "Calling describe token operation for owners: " + list_of_principals(owners) + "\n");
    // Without owners Kafka's tool asks for the tokens of no owner, and shows none.
    const bool asks_for_all = owners.empty() && !surroundings.is_kafkas_name;
    const auto tokens = client::describe_delegation_tokens(cluster, asks_for_all ? std::nullopt : std::optional(owners));
    if (!tokens) {
        return refused_by_broker(tokens.error());
    }
    surroundings.print("Total number of tokens : " + std::to_string(tokens->size()) + table_of(*tokens));
    return 0;
}

Outcome<int> run_tokens(const Options& options, const Surroundings& surroundings) {
    PARTITA_TRY_ASSIGN(auto cluster, open_cluster(options, surroundings));
    if (options.has("create")) {
        return make_token(cluster, options, surroundings);
    }
    if (options.has("describe")) {
        return show_tokens(cluster, options, surroundings);
    }
    return change_expiry(cluster, options, surroundings, options.has("renew"));
}

}  // namespace

const Tool kDelegationTokensTool{.name = "delegation-tokens",
                                 .kafka_name = "kafka-delegation-tokens",
                                 .summary = "create, renew, expire and show delegation tokens",
                                 .purpose =
                                     "This tool helps to create, renew, "
                                     "expire, or describe delegation tokens.",
                                 .options = kTokensOptions,
                                 .rules = kTokensRules,
                                 .run = run_tokens};

}  // namespace partita::tools
