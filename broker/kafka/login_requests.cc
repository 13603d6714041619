#include "broker/kafka/login_requests.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "broker/authentication/delegation_token.h"
#include "broker/catalog/catalog.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"
#include "broker/runtime/clients/request_watch.h"
#include "protocol/big_endian.h"
#include "protocol/messages/17_sasl_handshake.h"
#include "protocol/messages/36_sasl_authenticate.h"
#include "protocol/random_bytes.h"

namespace partita::kafka {
namespace {

using authentication::CredentialStore;
using authentication::Hash;
using authentication::LoginExchange;
using authentication::Mechanism;

/// 160 random bits as text.
std::string fresh_nonce() {
    constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuv";
    const auto random = random_value<std::array<std::uint8_t, 32>>();
    std::string nonce;
    for (const std::uint8_t byte : random) {
        nonce.push_back(kDigits[byte % kDigits.size()]);
    }
    return nonce;
}

/// The SCRAM credential for the token with this HMAC. Making one takes milliseconds, so each thread keeps some. Apart from its
/// arbitrary salt, it depends only on hash and HMAC.
authentication::ScramCredential credential_of_token(Hash hash, std::string hmac) {
    constexpr std::size_t kKeptMax = 256;
    thread_local std::map<std::pair<Hash, std::string>, authentication::ScramCredential> kept;
    std::pair key(hash, std::move(hmac));
    if (const auto found = kept.find(key); found != kept.end()) {
        return found->second;
    }
    if (kept.size() >= kKeptMax) {
        kept.clear();
    }
    auto credential = authentication::token_credential(hash, key.second, fresh_nonce());
    kept.emplace(std::move(key), credential);
    return credential;
}

/// The credentials in the catalog.
class CatalogCredentials final : public CredentialStore {
  public:
    CatalogCredentials(const catalog::CatalogSnapshot& catalog, std::string_view token_secret, TimestampMs now)
        : catalog_(catalog), token_secret_(token_secret), now_(now) {}

    std::optional<authentication::ScramCredential> of_user(Hash hash, std::string_view user) const override {
        const auto found = catalog_.all_scram_credentials().find(user);
        if (found == catalog_.all_scram_credentials().end()) {
            return std::nullopt;
        }
        const Mechanism mechanism = hash == Hash::sha_512 ? Mechanism::scram_sha_512 : Mechanism::scram_sha_256;
        const auto credential = found->second.find(authentication::mechanism_name(mechanism));
        return credential == found->second.end() ? std::nullopt : authentication::parse_scram_credential(credential->second);
    }
    /// Treats an expired token as missing; its removal from the catalog comes later.
    std::optional<TokenCredential> of_token(Hash hash, std::string_view id) const override {
        const access::DelegationToken* const token = catalog_.find_delegation_token(id);
        if (token_secret_.empty() || token == nullptr || token->is_expired(now_)) {
            return std::nullopt;
        }
        return TokenCredential{.credential = credential_of_token(hash, authentication::token_hmac(token_secret_, id)),
                               .owner = token->owner.name,
                               .expires = token->expires};
    }

  private:
    const catalog::CatalogSnapshot& catalog_;
    const std::string_view token_secret_;
    const TimestampMs now_;
};

/// Handles a token of the login. Once the login is complete, the client's session has its principal.
LoginExchange::Answer take_token(const runtime::CommonServices& services, logs::Turn& turn, runtime::ClientConnection& client,
                                 LoginExchange& login, std::string_view token) {
    const CatalogCredentials credentials(*turn.topics().catalog, login.settings().token_secret, turn.now().wall);
    const std::string nonce = fresh_nonce();
    auto answer = login.token(token, {.now = turn.now(), .nonce = nonce, .credentials = credentials});
    if (login.is_complete()) {
        client.session = {.principal = services.requests.counted(*login.principal()), .is_by_token = login.is_by_token()};
    }
    return answer;
}

std::optional<LoginAnswer> answer_handshake(runtime::RequestContext& context, LoginExchange& login) {
    const SaslHandshakeRequest* request = context.decode<SaslHandshakeRequest>();
    if (request == nullptr) {
        return std::nullopt;
    }
    auto [error, end] = login.handshake(context.version(), request->mechanism);
    if (end && !end->has_answer) {
        return LoginAnswer{.reply = {}, .end = std::move(end)};
    }
    SaslHandshakeResponse response;
    response.error_code = error;
    ArenaVector<std::string_view> mechanisms(context.arena(), login.settings().offers.size());
    for (const authentication::LoginSettings::Offer& offer : login.settings().offers) {
        mechanisms.push_back(authentication::mechanism_name(offer.mechanism));
    }
    response.mechanisms = mechanisms;
    context.reply(response);
    return LoginAnswer{.reply = context.take_reply(), .end = std::move(end)};
}

}  // namespace

bool belongs_to_login(LoginExchange& login, ApiKey key, Instant now) {
    if (key == ApiKey::sasl_handshake) {
        return !login.is_complete() || login.again(now);
    }
    return key == ApiKey::sasl_authenticate && !login.is_complete();
}

std::optional<LoginAnswer> answer_login(runtime::RequestContext& context, LoginExchange& login) {
    if (context.api_key() == ApiKey::sasl_handshake) {
        return answer_handshake(context, login);
    }
    const SaslAuthenticateRequest* request = context.decode<SaslAuthenticateRequest>();
    if (request == nullptr) {
        return std::nullopt;
    }
    auto answer = take_token(context.services, context.turn, context.client, login, as_text(request->auth_bytes));
    if (answer.end && !answer.end->has_answer) {
        return LoginAnswer{.reply = {}, .end = std::move(answer.end)};
    }
    SaslAuthenticateResponse response;
    response.error_code = answer.error;
    response.error_message = answer.message;
    response.auth_bytes = as_bytes(answer.bytes);
    response.session_lifetime_ms = answer.session_ms;
    context.reply(response);
    return LoginAnswer{.reply = context.take_reply(), .end = std::move(answer.end)};
}

LoginAnswer answer_bare_token(const runtime::CommonServices& services, logs::Turn& turn, runtime::ClientConnection& client,
                              LoginExchange& login, std::string_view token) {
    auto answer = take_token(services, turn, client, login, token);
    LoginAnswer result{.reply = {}, .end = std::move(answer.end)};
    if (!result.end) {
        result.reply.bytes = runtime::take_reply_buffer();
        result.reply.bytes.append_big_endian(static_cast<std::int32_t>(answer.bytes.size()));
        result.reply.bytes.append(as_bytes(answer.bytes));
    }
    return result;
}

void tell_versions(LoginExchange& login, const runtime::Reply& reply) {
    // In every version, the size and the correlation id precede the error code.
    constexpr std::size_t kErrorAt = 8;
    const Bytes bytes = reply.bytes.bytes();
    if (bytes.size() >= kErrorAt + sizeof(std::int16_t) && load_big_endian<std::int16_t>(bytes.data() + kErrorAt) == 0) {
        login.versions_told();
    }
}

}  // namespace partita::kafka
