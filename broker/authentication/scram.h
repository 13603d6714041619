#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "broker/authentication/crypto.h"
#include "broker/authentication/login_failure.h"

/// SCRAM (RFC 5802, 7677) as in Kafka: SHA-256 and SHA-512, no channel binding, names in ASCII, passwords without normalization,
/// the extension `tokenauth` of delegation tokens. Both the server's and the client's side.
namespace partita::authentication {

/// A server refuses credentials with fewer.
inline constexpr std::int32_t kScramIterationsMin = 4096;
/// A client refuses to do more: Kafka's own tools and brokers accept far fewer in a credential.
inline constexpr std::int32_t kScramClientIterationsMax = 10'000'000;

/// The part of a password that a server stores. Raw bytes, not base64.
struct ScramCredential {
    std::string salt;
    std::string stored_key;
    std::string server_key;
    std::int32_t iterations = 0;
};

/// Parses `salt=...,stored_key=...,server_key=...,iterations=...`, the catalog's form. Null if invalid.
[[nodiscard]] std::optional<ScramCredential> parse_scram_credential(std::string_view text);
/// Computes the credential of a password.
[[nodiscard]] ScramCredential make_scram_credential(Hash hash, std::string_view password, std::string_view salt,
                                                    std::int32_t iterations);

/// A client's first message.
struct ScramFirstMessage {
    std::string user;
    std::string authorization_id;
    std::string nonce;
    /// The part that is signed.
    std::string bare;
    /// True if the name is the id of a delegation token.
    bool token_authentication = false;
};
[[nodiscard]] std::expected<ScramFirstMessage, LoginFailure> parse_scram_first(std::string_view message);

struct ScramFinalMessage {
    std::string nonce;
    std::string proof;
    /// The part that is signed.
    std::string without_proof;
};
[[nodiscard]] std::expected<ScramFinalMessage, LoginFailure> parse_scram_final(std::string_view message);

/// The server's half of one login. The caller parses the client's first message and finds its credential, then calls `begin`,
/// then `finish`.
class ScramServer {
  public:
    explicit ScramServer(Hash hash) : hash_(hash) {}

    /// The server's first message. `nonce` is fresh and printable.
    [[nodiscard]] std::expected<std::string, LoginFailure> begin(const ScramFirstMessage& first, ScramCredential credential,
                                                                 std::string_view nonce);
    /// The server's final message, if the client has proven that it knows the password. Call it only once, after `begin`.
    [[nodiscard]] std::expected<std::string, LoginFailure> finish(std::string_view client_final);

  private:
    Hash hash_;
    ScramCredential credential_;
    std::string nonce_;
    /// The client's first message and the server's first message, each followed by a comma.
    std::string signed_so_far_;
};

/// The client's half.
class ScramClient {
  public:
    /// `nonce` is fresh and printable. `by_token`: user and password are the id of a delegation token and its HMAC.
    ScramClient(Hash hash, std::string user, std::string password, std::string nonce, bool by_token = false);

    [[nodiscard]] std::string first_message() const;
    /// The client's final message. The error says what is wrong with the server's first message.
    [[nodiscard]] std::expected<std::string, std::string> answer(std::string_view server_first);
    /// Checks that the server knows the password, too. The error is the server's word, or says what is wrong.
    [[nodiscard]] std::expected<void, std::string> check(std::string_view server_final) const;

  private:
    Hash hash_;
    std::string user_;
    std::string password_;
    std::string nonce_;
    bool by_token_;
    std::string server_signature_;
};

}  // namespace partita::authentication
