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

/// Stored SCRAM credentials: of users, and of delegation tokens.
class CredentialStore {
  public:
    struct TokenCredential {
        ScramCredential credential;
        /// The name of the token's owner.
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

/// A failed login: how its connection ends.
struct LoginEnd {
    /// For the log; contains no secret.
    std::string reason;
    /// The broker sends the answer and closes the connection after connection.failed.authentication.delay.ms; otherwise it closes
    /// at once, without an answer.
    bool after_delay = false;
    /// Whether there is an answer at all.
    bool has_answer = false;
};

/// The login of one connection, and its repetition (KIP-368). It allows the same requests as Kafka's SaslServerAuthenticator, in
/// the same order, with the same errors. The caller reads requests and writes answers; after a LoginEnd it must not call this
/// object any more.
///
/// 1. ApiVersions and SaslHandshake; ApiVersions may succeed only once.
/// 2. Tokens, in SaslAuthenticate requests, or bare after a handshake of version 0.
/// 3. Complete: any request. A SaslHandshake then begins anew, if the session has an end.
class LoginExchange {
  public:
    /// Kafka does not let a client log in again more often.
    static constexpr std::int64_t kRepeatMsMin = 1000;

    explicit LoginExchange(std::shared_ptr<const LoginSettings> settings) : settings_(std::move(settings)) {}

    [[nodiscard]] const LoginSettings& settings() const { return *settings_; }
    /// True if the client is authenticated, and is not logging in again.
    [[nodiscard]] bool is_complete() const { return step_ == Step::complete; }
    /// True if the next frame is a bare token, without a header.
    [[nodiscard]] bool expects_bare_token() const { return step_ == Step::token && !has_headers_; }

    /// Must be called before a request is served. Null if the request is allowed.
    [[nodiscard]] std::optional<LoginEnd> refuse(ApiKey key);
    /// Reports that ApiVersions was answered without an error. No effect when the login is complete.
    void versions_told();

    struct Handshake {
        ErrorCode error = ErrorCode::none;
        std::optional<LoginEnd> end;
    };
    /// Handles a SaslHandshake request that was not refused. Its answer names `settings().offers`. When the login is complete:
    /// see `again`.
    [[nodiscard]] Handshake handshake(std::int16_t version, std::string_view mechanism);
    /// Handles a SaslHandshake of an authenticated client. Returns false if the client may not log in again now; the answer is
    /// then ILLEGAL_SASL_STATE.
    [[nodiscard]] bool again(Instant now);

    struct Answer {
        ErrorCode error = ErrorCode::none;
        /// Only with an error.
        std::string message;
        /// Only without an error.
        std::string bytes;
        std::int64_t session_ms = 0;
        std::optional<LoginEnd> end;
    };
    /// Handles a token.
    [[nodiscard]] Answer token(std::string_view token, const LoginCircumstances& circumstances);

    /// The authenticated client. Null until the first complete login.
    [[nodiscard]] const std::shared_ptr<const access::Principal>& principal() const { return principal_; }
    /// True if the client logged in by a delegation token.
    [[nodiscard]] bool is_by_token() const { return by_token_; }
    /// True if the session has ended: then the next request outside a login ends the connection.
    [[nodiscard]] bool is_expired(Instant now) const { return is_complete() && session_end_ && now > *session_end_; }

  private:
    enum class Step : std::uint8_t {
        first_request,  ///< no request came yet
        versions_or_handshake,
        handshake,        ///< ApiVersions was answered
        handshake_again,  ///< an authenticated client sent a SaslHandshake
        wrong_mechanism,  ///< a repeated login chose another mechanism; the answer to its next request says so
        token,
        complete,
    };
    /// A mechanism's conclusion from a token.
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

    /// A SCRAM login in progress.
    struct Scram {
        ScramServer server;
        std::string user;
        bool by_token = false;
        std::optional<TimestampMs> expires;
    };

    std::shared_ptr<const LoginSettings> settings_;
    std::shared_ptr<const access::Principal> principal_;
    std::unique_ptr<Scram> scram_;
    /// Why the last bearer token was refused; the client has been told.
    std::optional<TokenRefusal> bearer_refusal_;
    std::optional<Instant> session_end_;
    std::optional<Instant> began_again_;
    Mechanism mechanism_ = Mechanism::plain;
    Step step_ = Step::first_request;
    bool has_headers_ = false;
    bool by_token_ = false;
};

}  // namespace partita::authentication
