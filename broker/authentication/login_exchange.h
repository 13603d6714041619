#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/access/session.h"
#include "broker/authentication/login_settings.h"
#include "broker/authentication/scram.h"
#include "protocol/api_keys.h"
#include "protocol/error_code.h"
#include "protocol/types.h"

namespace partita::authentication {

/// What SCRAM goes by: credentials of users, and delegation tokens.
class CredentialStore {
  public:
    struct TokenCredential {
        ScramCredential credential;
        /// The name of the user whom the token stands for.
        std::string owner;
        TimestampMs expires{};
    };

    virtual ~CredentialStore() = default;
    [[nodiscard]] virtual std::optional<ScramCredential> of_user(Hash hash, std::string_view user) const = 0;
    [[nodiscard]] virtual std::optional<TokenCredential> of_token(Hash hash, std::string_view token_id) const = 0;
};

/// The circumstances of a step.
struct LoginCircumstances {
    Now now;
    /// Never used before, printable, without a comma.
    std::string_view nonce;
    const CredentialStore& credentials;
};

/// That a login has failed, and how its connection ends.
struct LoginEnd {
    /// For the log; holds no secret.
    std::string reason;
    /// The answer leaves, and the connection ends, after connection.failed.authentication.delay.ms; otherwise at once, without an
    /// answer.
    bool after_delay = false;
    /// Whether there is an answer at all.
    bool has_answer = false;
};

/// How one connection logs in, and does so again (KIP-368): what Kafka's SaslServerAuthenticator allows, in its order, with its
/// errors. The caller reads requests and writes answers; after a LoginEnd it calls nothing here any more.
///
/// 1. ApiVersions and SaslHandshake, the former once at most with success. 2. Tokens, in SaslAuthenticate requests, or bare when
/// the handshake was of version 0. 3. Complete: any request. A SaslHandshake then begins anew, if the session has an end.
class LoginExchange {
  public:
    /// Kafka does not let a client log in again more often.
    static constexpr std::int64_t kRepeatMsMin = 1000;

    explicit LoginExchange(std::shared_ptr<const LoginSettings> settings) : settings_(std::move(settings)) {}

    [[nodiscard]] const LoginSettings& settings() const { return *settings_; }
    /// True when the client is known, and does not log in again just now.
    [[nodiscard]] bool is_complete() const { return step_ == Step::complete; }
    /// True when the next frame is a bare token, without a header.
    [[nodiscard]] bool expects_bare_token() const { return step_ == Step::token && !has_headers_; }

    /// Asked before a request is served. Null when it may be.
    [[nodiscard]] std::optional<LoginEnd> refuse(ApiKey key);
    /// ApiVersions was answered without an error. Of no consequence when the login is complete.
    void versions_told();

    struct Handshake {
        ErrorCode error = ErrorCode::none;
        std::optional<LoginEnd> end;
    };
    /// A SaslHandshake request that was not refused. Its answer names `settings().offers`. When the login is complete: see
    /// `again`.
    [[nodiscard]] Handshake handshake(std::int16_t version, std::string_view mechanism);
    /// A SaslHandshake of a client that is known. False when it may not log in again now: then it is answered ILLEGAL_SASL_STATE.
    [[nodiscard]] bool again(Instant now);

    struct Answer {
        ErrorCode error = ErrorCode::none;
        /// With an error.
        std::string message;
        /// Without one.
        std::string bytes;
        std::int64_t session_ms = 0;
        std::optional<LoginEnd> end;
    };
    /// A token.
    [[nodiscard]] Answer token(std::string_view token, const LoginCircumstances& circumstances);

    /// Who the client is. Null until the login was complete once.
    [[nodiscard]] const std::shared_ptr<const access::Principal>& principal() const { return principal_; }
    /// True when the client logged in by a delegation token.
    [[nodiscard]] bool is_by_token() const { return by_token_; }
    /// True when the session has come to its end: then the next request that does not log in ends the connection.
    [[nodiscard]] bool is_expired(Instant now) const { return is_complete() && session_end_ && now > *session_end_; }

  private:
    enum class Step : std::uint8_t {
        first_request,  ///< nothing came yet
        versions_or_handshake,
        handshake,        ///< versions were told
        handshake_again,  ///< a SaslHandshake of a client that is known is looked at
        wrong_mechanism,  ///< it logs in again with another mechanism, and hears of it with its next request
        token,
        complete,
    };
    /// What a mechanism concludes from a token.
    struct Verdict {
        std::string bytes;
        bool is_complete = false;
        std::string user;
        bool by_token = false;
        std::optional<TimestampMs> expires;
        std::optional<access::KeyGrant> grant;
    };
    using Judged = std::expected<Verdict, LoginFailure>;

    [[nodiscard]] Judged judge(std::string_view token, const LoginCircumstances& circumstances);
    [[nodiscard]] Judged judge_scram(Hash hash, std::string_view token, const LoginCircumstances& circumstances);
    [[nodiscard]] Judged judge_bearer(std::string_view token, TimestampMs now);
    [[nodiscard]] Answer fail(LoginFailure failure) const;
    [[nodiscard]] Answer complete(Verdict verdict, const Now& now);
    [[nodiscard]] std::string_view what() const { return principal_ ? "re-authentication" : "authentication"; }

    /// Of a SCRAM login under way.
    struct Scram {
        ScramServer server;
        std::string user;
        bool by_token = false;
        std::optional<TimestampMs> expires;
    };

    std::shared_ptr<const LoginSettings> settings_;
    std::shared_ptr<const access::Principal> principal_;
    std::unique_ptr<Scram> scram_;
    /// Why the last bearer token was not taken; the client has been told.
    std::optional<TokenRefusal> bearer_refusal_;
    std::optional<Instant> session_end_;
    std::optional<Instant> began_again_;
    Mechanism mechanism_ = Mechanism::plain;
    Step step_ = Step::first_request;
    bool has_headers_ = false;
    bool by_token_ = false;
};

}  // namespace partita::authentication
