#include "broker/authentication/login_exchange.h"

#include <algorithm>
#include <utility>

#include "broker/authentication/oauth_bearer.h"
#include "protocol/assert.h"
#include "protocol/try.h"

namespace partita::authentication {
namespace {

LoginEnd at_once(std::string reason) { return {.reason = std::move(reason)}; }

std::string name_of(ApiKey key) { return std::string(api_name(key)); }

}  // namespace

std::optional<LoginEnd> LoginExchange::refuse(ApiKey key) {
    switch (step_) {
        case Step::complete:
            return std::nullopt;
        case Step::first_request:
        case Step::versions_or_handshake:
        case Step::handshake:
            if (key == ApiKey::api_versions && step_ == Step::handshake) {
                return at_once("a second ApiVersions request came before the client logged in");
            }
            if (key != ApiKey::api_versions && key != ApiKey::sasl_handshake) {
                return at_once("a request of type " + name_of(key) + " came before the client logged in (SASL)");
            }
            if (step_ == Step::first_request) {
                step_ = Step::versions_or_handshake;
            }
            return std::nullopt;
        case Step::handshake_again:
            PARTITA_ASSERT(false, "a handshake is looked at as soon as it begins a login again");
            return std::nullopt;
        case Step::wrong_mechanism:
            return LoginEnd{.reason = "the client logs in again with another SASL mechanism", .after_delay = true};
        case Step::token:
            if (key == ApiKey::sasl_authenticate) {
                return std::nullopt;
            }
            return LoginEnd{.reason = "Unexpected Kafka request of type " + name_of(key) + " during SASL authentication.",
                            .after_delay = true};
    }
    return std::nullopt;
}

void LoginExchange::versions_told() {
    if (step_ == Step::versions_or_handshake) {
        step_ = Step::handshake;
    }
}

bool LoginExchange::again(Instant now) {
    if (step_ != Step::complete || !session_end_ || (began_again_ && now - *began_again_ < kRepeatMsMin)) {
        return false;
    }
    began_again_ = now;
    step_ = Step::handshake_again;
    has_headers_ = false;
    return true;
}

LoginExchange::Handshake LoginExchange::handshake(std::int16_t version, std::string_view mechanism) {
    PARTITA_ASSERT(step_ == Step::versions_or_handshake || step_ == Step::handshake || step_ == Step::handshake_again,
                   "only a handshake that was not refused is looked at");
    const LoginSettings::Offer* const offer = settings_->find(mechanism);
    if (offer == nullptr && step_ == Step::handshake_again) {
        // During a repeated login Kafka's network thread treats this as an unexpected failure.
        return {.error = ErrorCode::unsupported_sasl_mechanism, .end = at_once("a SASL mechanism that is not offered")};
    }
    if (offer == nullptr) {
        return {.error = ErrorCode::unsupported_sasl_mechanism,
                .end = LoginEnd{.reason = "a SASL mechanism that is not offered", .after_delay = true, .has_answer = true}};
    }
    has_headers_ |= version >= 1;
    if (step_ == Step::handshake_again && offer->mechanism != mechanism_) {
        step_ = Step::wrong_mechanism;
        return {};
    }
    mechanism_ = offer->mechanism;
    scram_.reset();
    bearer_refusal_.reset();
    step_ = Step::token;
    return {};
}

LoginExchange::Answer LoginExchange::token(std::string_view token, const LoginCircumstances& circumstances) {
    PARTITA_ASSERT(step_ == Step::token, "a token comes after a handshake");
    Judged judged = judge(token, circumstances);
    if (!judged) {
        return fail(std::move(judged.error()));
    }
    if (!judged->is_complete) {
        return {.bytes = std::move(judged->bytes)};
    }
    return complete(std::move(*judged), circumstances.now);
}

LoginExchange::Judged LoginExchange::judge(std::string_view token, const LoginCircumstances& circumstances) {
    switch (mechanism_) {
        case Mechanism::plain: {
            const AccessKeys* const keys = settings_->access_keys ? &*settings_->access_keys : nullptr;
            PARTITA_TRY_ASSIGN(auto identity, check_plain(settings_->users, keys, token));
            return Verdict{.is_complete = true, .user = std::move(identity.user), .grant = std::move(identity.grant)};
        }
        case Mechanism::scram_sha_256:
            return judge_scram(Hash::sha_256, token, circumstances);
        case Mechanism::scram_sha_512:
            return judge_scram(Hash::sha_512, token, circumstances);
        case Mechanism::oauth_bearer:
            return judge_bearer(token, circumstances.now.wall);
    }
    return std::unexpected(broken("no mechanism"));
}

LoginExchange::Judged LoginExchange::judge_scram(Hash hash, std::string_view token, const LoginCircumstances& circumstances) {
    if (scram_) {
        auto last = scram_->server.finish(token);
        const std::unique_ptr<Scram> done = std::move(scram_);
        PARTITA_TRY(last);
        return Verdict{.bytes = std::move(*last),
                       .is_complete = true,
                       .user = std::move(done->user),
                       .by_token = done->by_token,
                       .expires = done->expires};
    }
    PARTITA_TRY_ASSIGN(const auto first, parse_scram_first(token));
    Scram scram{.server = ScramServer(hash), .user = first.user};
    std::optional<ScramCredential> credential;
    if (first.token_authentication) {
        auto found = circumstances.credentials.of_token(hash, first.user);
        if (!found) {
            return std::unexpected(hidden("Token Authentication failed: Invalid tokenId"));
        }
        credential = std::move(found->credential);
        scram.user = std::move(found->owner);
        scram.by_token = true;
        scram.expires = found->expires;
    } else {
        credential = circumstances.credentials.of_user(hash, first.user);
    }
    if (!credential) {
        return std::unexpected(hidden("Authentication failed: Invalid user credentials"));
    }
    PARTITA_TRY_ASSIGN(auto answer, scram.server.begin(first, std::move(*credential), circumstances.nonce));
    scram_ = std::make_unique<Scram>(std::move(scram));
    return Verdict{.bytes = std::move(answer)};
}

LoginExchange::Judged LoginExchange::judge_bearer(std::string_view token, TimestampMs now) {
    const std::optional<TokenRefusal> refused = std::exchange(bearer_refusal_, std::nullopt);
    if (token == kBearerErrorAcknowledged && refused) {
        return std::unexpected(told(refused->json(), refused->reason));
    }
    PARTITA_TRY_ASSIGN(const auto message, parse_bearer_message(token));
    const auto* const with_signature = std::get_if<SignedTokens>(&settings_->tokens);
    const auto* const without = std::get_if<UnsecuredTokens>(&settings_->tokens);
    PARTITA_ASSERT(with_signature != nullptr || without != nullptr, "who offers OAUTHBEARER can check tokens");
    const TokenVerdict identity = with_signature != nullptr ? check_signed_token(*with_signature, message.token, now)
                                                            : check_unsecured_token(*without, message.token, now);
    if (!identity) {
        if (identity.error().is_silent) {
            return std::unexpected(broken(identity.error().reason));
        }
        bearer_refusal_ = identity.error();
        return Verdict{.bytes = bearer_refusal_->json()};
    }
    if (!message.authorization_id.empty() && message.authorization_id != identity->principal) {
        return std::unexpected(told("Authentication failed: Client requested an authorization id (" + message.authorization_id +
                                        ") that is different from the token's principal name (" + identity->principal + ")",
                                    "the client asks for another identity than its token's"));
    }
    return Verdict{.is_complete = true, .user = identity->principal, .expires = identity->expires};
}

LoginExchange::Answer LoginExchange::fail(LoginFailure failure) const {
    Answer answer{.error = ErrorCode::sasl_authentication_failed};
    LoginEnd& end = answer.end.emplace();
    switch (failure.kind) {
        case LoginFailure::Kind::told:
            answer.message = failure.text;
            end.after_delay = true;
            end.has_answer = has_headers_;
            break;
        case LoginFailure::Kind::hidden:
            answer.message = "Authentication failed during " + std::string(what()) +
                             " due to invalid credentials with SASL mechanism " + std::string(mechanism_name(mechanism_));
            // Without headers Kafka cannot send the error, and treats the connection as broken.
            end.after_delay = has_headers_;
            end.has_answer = has_headers_;
            break;
        case LoginFailure::Kind::broken:
            break;
    }
    end.reason = "failed " + std::string(what()) + ": " + failure.reason;
    return answer;
}

LoginExchange::Answer LoginExchange::complete(Verdict verdict, const Now& now) {
    auto principal = std::make_shared<const access::Principal>("User", std::move(verdict.user), std::move(verdict.grant));
    if (principal_ && (principal_->text() != principal->text() || principal_->grant() != principal->grant())) {
        return fail(told("Cannot change principals during re-authentication from " + principal_->type() + "." +
                             principal_->name() + ": " + principal->type() + "." + principal->name(),
                         "Cannot change principals during re-authentication"));
    }
    Answer answer{.bytes = std::move(verdict.bytes)};
    session_end_.reset();
    const std::int64_t session_ms_max = settings_->find(mechanism_name(mechanism_))->session_ms_max;
    if (verdict.expires || session_ms_max > 0) {
        const std::int64_t credential_ms = verdict.expires ? verdict.expires->value - now.wall.value : session_ms_max;
        answer.session_ms =
            std::max<std::int64_t>(0, session_ms_max > 0 ? std::min(credential_ms, session_ms_max) : credential_ms);
        session_end_ = now.monotonic + answer.session_ms;
    }
    principal_ = std::move(principal);
    by_token_ = verdict.by_token;
    step_ = Step::complete;
    return answer;
}

}  // namespace partita::authentication
