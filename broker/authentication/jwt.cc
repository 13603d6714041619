#include "broker/authentication/jwt.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "broker/authentication/crypto.h"
#include "broker/authentication/json_text.h"
#include "broker/authentication/sasl_text.h"

namespace partita::authentication {
namespace {

using nlohmann::json;

std::unexpected<TokenRefusal> refuse(std::string reason) { return std::unexpected(TokenRefusal{.reason = std::move(reason)}); }

/// Null if the claim is missing or JSON's null.
const json* claim(const json& claims, std::string_view name) {
    const auto found = claims.find(name);
    return found == claims.end() || found->is_null() ? nullptr : &*found;
}

std::int64_t ms_of(double seconds) {
    const double ms = std::floor(seconds * 1000 + 0.5);
    constexpr double kLimit = 9e18;
    return static_cast<std::int64_t>(std::clamp(ms, -kLimit, kLimit));
}

/// The three parts between the dots. Null for another number of parts.
std::optional<std::array<std::string_view, 3>> parts_of(std::string_view token) {
    const std::size_t first = token.find('.');
    if (first == token.npos) {
        return std::nullopt;
    }
    const std::size_t second = token.find('.', first + 1);
    if (second == token.npos || token.find('.', second + 1) != token.npos) {
        return std::nullopt;
    }
    return std::array{token.substr(0, first), token.substr(first + 1, second - first - 1), token.substr(second + 1)};
}

// ---- without a signature ----

/// The text that Jackson's asText makes of a value other than a number or an array.
std::string as_text(const json& value) {
    if (value.is_string()) {
        return value.get<std::string>();
    }
    if (value.is_boolean()) {
        return value.get<bool>() ? "true" : "false";
    }
    return value.is_null() ? "null" : "";
}

std::vector<std::string> scope_of(const json& claims, const std::string& name) {
    std::vector<std::string> scope;
    const auto found = claims.find(name);
    if (found == claims.end()) {
        return scope;
    }
    if (found->is_array()) {
        for (const json& item : *found) {
            if (const std::string text(trimmed(as_text(item))); !text.empty()) {
                scope.push_back(text);
            }
        }
    } else if (const std::string text(trimmed(as_text(*found))); !text.empty()) {
        scope.push_back(text);
    }
    return scope;
}

std::string list_text(const std::vector<std::string>& items) {
    std::string text = "[";
    for (const std::string& item : items) {
        text += (text.size() > 1 ? ", " : "") + item;
    }
    return text + "]";
}

// ---- with one ----

std::expected<std::optional<double>, std::string> time_claim(const json& claims, const char* name) {
    const json* const value = claim(claims, name);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_number()) {
        return std::unexpected("the claim " + std::string(name) + " is not a number");
    }
    // jose4j's dates are whole seconds.
    return std::trunc(value->get<double>());
}

/// The problem with a token's times; empty if there is none.
std::string time_problem(const SignedTokens& rules, const json& claims, TimestampMs now, double& expires) {
    const auto expiry = time_claim(claims, "exp");
    const auto issued = time_claim(claims, "iat");
    const auto not_before = time_claim(claims, "nbf");
    for (const auto* each : {&expiry, &issued, &not_before}) {
        if (!*each) {
            return each->error();
        }
    }
    if (!*expiry) {
        return "No Expiration Time (exp) claim present.";
    }
    if (!*issued) {
        return "No Issued At (iat) claim present.";
    }
    expires = **expiry;
    const auto seconds = std::floor(static_cast<double>(now.value) / 1000);
    if (seconds - rules.clock_skew_seconds >= expires) {
        return "The JWT is no longer valid";
    }
    if (expires < **issued) {
        return "The Expiration Time (exp) claim value cannot be before the Issued At (iat) claim value";
    }
    if (*not_before) {
        if (expires < **not_before) {
            return "The Expiration Time (exp) claim value cannot be before the Not Before (nbf) claim value";
        }
        if (seconds + rules.clock_skew_seconds < **not_before) {
            return "The JWT is not yet valid";
        }
    }
    return {};
}

bool is_for(const SignedTokens& rules, const json& audience) {
    const auto is_expected = [&](const json& item) {
        return item.is_string() && std::ranges::find(rules.audience, item.get_ref<const std::string&>()) != rules.audience.end();
    };
    if (audience.is_array()) {
        return std::any_of(audience.begin(), audience.end(), is_expected);
    }
    return is_expected(audience);
}

std::string party_problem(const SignedTokens& rules, const json& claims) {
    const json* const audience = claim(claims, "aud");
    if (audience == nullptr && !rules.audience.empty()) {
        return "No Audience (aud) claim present.";
    }
    if (audience != nullptr && !is_for(rules, *audience)) {
        return "the token is for another audience (aud)";
    }
    const json* const issuer = claim(claims, "iss");
    if (rules.issuer && (issuer == nullptr || !issuer->is_string() || issuer->get_ref<const std::string&>() != *rules.issuer)) {
        return "the token is of another issuer (iss)";
    }
    return {};
}

std::string scope_problem(const SignedTokens& rules, const json& claims) {
    const json* const scope = claim(claims, rules.scope_claim);
    if (scope == nullptr) {
        return {};
    }
    std::vector<std::string_view> seen;
    const auto problem_of = [&](const json& item) -> std::string {
        const std::string_view text = item.is_string() ? trimmed(item.get_ref<const std::string&>()) : std::string_view();
        if (text.empty()) {
            return rules.scope_claim + " value must be non-null, non-empty, and non-whitespace";
        }
        if (std::ranges::find(seen, text) != seen.end()) {
            return rules.scope_claim + " value must not contain duplicates";
        }
        seen.push_back(text);
        return {};
    };
    if (scope->is_string()) {
        return problem_of(*scope);
    }
    if (!scope->is_array()) {
        return {};
    }
    for (const json& item : *scope) {
        if (std::string problem = problem_of(item); !problem.empty()) {
            return problem;
        }
    }
    return {};
}

}  // namespace

std::string TokenRefusal::json() const {
    std::string text = "{\"status\":\"" + status + "\"";
    if (scope) {
        text += ", \"scope\":\"" + *scope + "\"";
    }
    return text + "}";
}

TokenVerdict check_unsecured_token(const UnsecuredTokens& rules, std::string_view token, TimestampMs now) {
    if (token.find("..") != token.npos) {
        return refuse("Malformed compact serialization contains '..'");
    }
    const auto parts = parts_of(token);
    if (!parts) {
        return refuse("Unsecured JWS compact serializations must have 3 dot-separated Base64URL-encoded values");
    }
    std::array<json, 2> objects;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        const std::optional<std::string> text = from_base64((*parts)[i]);
        if (!text) {
            return refuse("malformed Base64 URL encoded value");
        }
        std::optional<json> object = parse_json_object(*text);
        if (!object) {
            return refuse("malformed JSON");
        }
        objects[i] = std::move(*object);
    }
    const auto& [header, claims] = objects;
    const auto algorithm = header.find("alg");
    if (algorithm == header.end()) {
        return std::unexpected(TokenRefusal{.reason = "JWS header must have an Algorithm value", .is_silent = true});
    }
    if (as_text(*algorithm) != "none") {
        return refuse("Unsecured JWS must have 'none' for an algorithm");
    }
    if (!(*parts)[2].empty()) {
        return refuse("Unsecured JWS must not contain a digital signature");
    }

    const json* const expiry = claim(claims, "exp");
    const json* const issued = claim(claims, "iat");
    const json* const principal = claim(claims, rules.principal_claim);
    if (expiry == nullptr) {
        return refuse("No expiration time in JWT");
    }
    if (!expiry->is_number()) {
        return refuse("The 'exp' claim was not of type Number");
    }
    if (principal == nullptr || !principal->is_string() || trimmed(principal->get_ref<const std::string&>()).empty()) {
        return refuse("No principal name in JWT claim: " + rules.principal_claim);
    }
    if (issued != nullptr && !issued->is_number()) {
        return refuse("The 'iat' claim was not of type Number");
    }
    const auto now_ms = static_cast<double>(now.value);
    const auto expires = expiry->get<double>();
    if (issued != nullptr && 1000 * issued->get<double>() > now_ms + rules.clock_skew_ms) {
        return refuse("The Issued At value was after the indicated time plus allowable clock skew");
    }
    if (now_ms - rules.clock_skew_ms >= 1000 * expires) {
        return refuse("The indicated time minus allowable clock skew was on or after the Expiration Time value");
    }
    if (issued != nullptr && expires <= issued->get<double>()) {
        return refuse("The Expiration Time time was not after the Issued At time");
    }
    const std::vector<std::string> scope = scope_of(claims, rules.scope_claim);
    for (const std::string& required : rules.required_scope) {
        if (std::ranges::find(scope, required) == scope.end()) {
            return std::unexpected(TokenRefusal{.status = "insufficient_scope",
                                                .scope = list_text(rules.required_scope),
                                                .reason = "The provided scope was missing a required scope (" + required + ")"});
        }
    }
    return BearerIdentity{.principal = principal->get<std::string>(), .expires = {ms_of(expires)}};
}

TokenVerdict check_signed_token(const SignedTokens& rules, std::string_view token, TimestampMs now) {
    const auto parts = parts_of(token);
    const auto header_text = parts ? from_base64_url((*parts)[0]) : std::nullopt;
    const auto claims_text = parts ? from_base64_url((*parts)[1]) : std::nullopt;
    const auto signature = parts ? from_base64_url((*parts)[2]) : std::nullopt;
    const auto header = header_text ? parse_json_object(*header_text) : std::nullopt;
    if (!header || !claims_text || !signature) {
        return refuse("the token is not a JWT");
    }
    const json* const algorithm = claim(*header, "alg");
    if (algorithm == nullptr || !algorithm->is_string()) {
        return refuse("the token has no algorithm");
    }
    // The token demands an extension, and none is supported.
    if (header->contains("crit")) {
        return refuse("the token has critical header parameters");
    }
    const json* const key_id = claim(*header, "kid");
    if (key_id != nullptr && !key_id->is_string()) {
        return refuse("the key id of the token is not a string");
    }
    const std::string_view message = token.substr(0, (*parts)[0].size() + 1 + (*parts)[1].size());
    const auto present = rules.source == nullptr ? nullptr : rules.source->keys();
    const KeySet& keys = present == nullptr ? rules.keys : *present;
    const auto named = key_id == nullptr ? std::nullopt : std::optional<std::string_view>(key_id->get_ref<const std::string&>());
    // Claims are trusted only after this check.
    if (!keys.verifies(algorithm->get_ref<const std::string&>(), named, message, *signature)) {
        if (present != nullptr && named && !keys.has(*named)) {
            rules.source->miss(*named);
        }
        return refuse("no key of the key set made the signature");
    }
    const auto claims = parse_json_object(*claims_text);
    if (!claims) {
        return refuse("the claims are not a JSON object");
    }
    double expires = 0;
    for (std::string problem :
         {time_problem(rules, *claims, now, expires), party_problem(rules, *claims), scope_problem(rules, *claims)}) {
        if (!problem.empty()) {
            return refuse(std::move(problem));
        }
    }
    const json* const subject = claim(*claims, rules.subject_claim);
    const std::string_view name =
        subject != nullptr && subject->is_string() ? trimmed(subject->get_ref<const std::string&>()) : std::string_view();
    if (name.empty()) {
        return refuse(rules.subject_claim + " value must be non-null, non-empty, and non-whitespace");
    }
    if (expires < 0) {
        return refuse("exp value must be non-negative");
    }
    return BearerIdentity{.principal = std::string(name), .expires = {ms_of(expires)}};
}

}  // namespace partita::authentication
