#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace partita::authentication {

/// Why a login failed, and how much of the reason the client learns. Kafka has an exception for each.
struct [[nodiscard]] LoginFailure {
    enum class Kind : std::uint8_t {
        /// The client receives the text (SaslAuthenticationException).
        told,
        /// The client only learns that its credentials are invalid; the text is for the log (SaslException). The text could
        /// reveal whether the user exists.
        hidden,
        /// The connection ends without an answer (any other exception of Kafka's server code).
        broken,
    };
    Kind kind = Kind::hidden;
    /// For the client, depending on the kind. Contains no secret.
    std::string text;
    /// For the log: contains no text that a stranger has chosen. Mostly the same text.
    std::string reason;
};

[[nodiscard]] inline LoginFailure told(std::string text, std::string reason) {
    return {LoginFailure::Kind::told, std::move(text), std::move(reason)};
}
[[nodiscard]] inline LoginFailure told(const std::string& text) { return told(text, text); }
[[nodiscard]] inline LoginFailure hidden(std::string reason) { return {LoginFailure::Kind::hidden, {}, std::move(reason)}; }
[[nodiscard]] inline LoginFailure broken(std::string reason) { return {LoginFailure::Kind::broken, {}, std::move(reason)}; }

}  // namespace partita::authentication
