#include "broker/http/gate.h"

#include <algorithm>
#include <optional>

#include "broker/authentication/crypto.h"
#include "protocol/hexadecimal.h"

namespace partita::http {
namespace {

using authentication::Hash;

constexpr Gate::Refusal kMissing{"this resource needs the broker's token: Authorization: Bearer TOKEN",
                                 "Bearer realm=\"partita\""};
constexpr Gate::Refusal kWrong{"the token is not the broker's", "Bearer realm=\"partita\", error=\"invalid_token\"", true};
constexpr Gate::Refusal kClosed{
    "only /health and /metrics are served here, because the broker has no token: set partita.http.token.file", ""};

bool is_for_everybody(const Request& request) {
    if (request.path.empty()) {
        return true;
    }
    const std::string& first = request.path.front();
    return first == "health" || first == "metrics" || first == "console";
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

/// The scheme's name ignores case (RFC 9110, section 11.1).
std::optional<std::string_view> bearer_token(std::string_view authorization) {
    constexpr std::string_view kScheme = "bearer ";
    if (authorization.size() < kScheme.size() ||
        !std::ranges::equal(authorization.substr(0, kScheme.size()), kScheme, {}, lower)) {
        return std::nullopt;
    }
    authorization.remove_prefix(kScheme.size());
    while (authorization.starts_with(' ')) {
        authorization.remove_prefix(1);
    }
    return authorization;
}

/// Null if no protocol carries a token. A token that is not hexadecimal becomes an empty one.
std::optional<std::string> web_socket_token(std::string_view protocols) {
    while (!protocols.empty()) {
        std::string_view one = protocols.substr(0, protocols.find(','));
        protocols.remove_prefix(std::min(protocols.size(), one.size() + 1));
        while (one.starts_with(' ')) {
            one.remove_prefix(1);
        }
        while (one.ends_with(' ')) {
            one.remove_suffix(1);
        }
        if (!one.starts_with(kWebSocketTokenPrefix)) {
            continue;
        }
        one.remove_prefix(kWebSocketTokenPrefix.size());
        std::string token;
        return decode_hexadecimal(one, token) ? token : std::string();
    }
    return std::nullopt;
}

}  // namespace

Gate::Gate(Settings settings)
    : token_digest_(settings.token.empty() ? "" : authentication::digest(Hash::sha_256, settings.token)),
      bearer_(std::move(settings.bearer)),
      is_open_(settings.is_open) {
    authentication::wipe(settings.token);
}

bool Gate::is_token(std::string_view given) const {
    // Digests have equal lengths, whatever the caller sent.
    return given.size() <= kTokenBytesMax &&
           authentication::equal_in_constant_time(authentication::digest(Hash::sha_256, given), token_digest_);
}

bool Gate::tells_names_to(const access::Principal& caller) const {
    if (!has_token()) {
        return is_open_;
    }
    return &caller == bearer_.get() && &caller != access::Principal::anonymous().get();
}

std::expected<access::PrincipalPointer, Gate::Refusal> Gate::admit(const Request& request, std::string_view authorization,
                                                                   std::string_view protocols) const {
    if (token_digest_.empty()) {
        if (is_open_ || is_for_everybody(request)) {
            return access::Principal::anonymous();
        }
        return std::unexpected(kClosed);
    }
    if (const auto given = bearer_token(authorization)) {
        if (is_token(*given)) {
            return bearer_;
        }
        return std::unexpected(kWrong);
    }
    if (const auto given = web_socket_token(protocols)) {
        if (is_token(*given)) {
            return bearer_;
        }
        return std::unexpected(kWrong);
    }
    if (is_for_everybody(request)) {
        return access::Principal::anonymous();
    }
    return std::unexpected(kMissing);
}

}  // namespace partita::http
