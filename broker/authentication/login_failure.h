#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace partita::authentication {

/// Why a client is not believed, and how much of that it hears. Kafka has an exception for each.
struct [[nodiscard]] LoginFailure {
    enum class Kind : std::uint8_t {
        /// The client is told the text (SaslAuthenticationException).
        told,
        /// The client is told that its credentials are invalid and no more; the text is for the log (SaslException). It could
        /// tell whether there is such a user.
        hidden,
        /// The connection ends without an answer (whatever else Kafka's server code throws).
        broken,
    };
    Kind kind = Kind::hidden;
    /// For the client, if it is told. Holds no secret.
    std::string text;
    /// For the log: nothing that a stranger has chosen. Mostly the same text.
    std::string reason;
};

[[nodiscard]] inline LoginFailure told(std::string text, std::string reason) {
    return {LoginFailure::Kind::told, std::move(text), std::move(reason)};
}
[[nodiscard]] inline LoginFailure told(const std::string& text) { return told(text, text); }
[[nodiscard]] inline LoginFailure hidden(std::string reason) { return {LoginFailure::Kind::hidden, {}, std::move(reason)}; }
[[nodiscard]] inline LoginFailure broken(std::string reason) { return {LoginFailure::Kind::broken, {}, std::move(reason)}; }

}  // namespace partita::authentication
