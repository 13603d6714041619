#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "broker/access/session.h"
#include "broker/http/exchange.h"

namespace partita::http {

/// Who may ask over HTTP: the bearer of the broker's token, and who comes without one as far as that is allowed. What a caller
/// may do then is for the rules (authorize.h). Immutable, so any thread may ask it. It decides alone: no file, no clock.
class Gate {
  public:
    /// A shorter token could be guessed.
    static constexpr std::size_t kTokenBytesMin = 16;
    static constexpr std::size_t kTokenBytesMax = 4096;

    struct Settings {
        /// Empty: there is none.
        std::string token;
        /// Who its bearer is.
        access::PrincipalPointer bearer = access::Principal::anonymous();
        /// Everything is served to whoever asks; without a token only.
        bool is_open = true;
    };
    /// Of a broker that has no token and listens to this machine alone.
    Gate() : Gate(Settings{}) {}
    explicit Gate(Settings settings);

    [[nodiscard]] bool has_token() const { return !token_digest_.empty(); }
    /// Whether `caller` may know who uses the broker, which metrics tell besides what is for everybody: the bearer of the token,
    /// and whoever is served everything because there is none.
    [[nodiscard]] bool tells_names_to(const access::Principal& caller) const;

    /// Why nobody gets an answer.
    struct Refusal {
        /// A sentence.
        std::string_view reason;
        /// The value of the header WWW-Authenticate; empty when no token would help.
        std::string_view challenge;
        /// Somebody tries tokens, or has an old one.
        bool is_of_wrong_token = false;
    };
    /// Who asks. `authorization` is the header of this name; `protocols` is Sec-WebSocket-Protocol, by which a page of the
    /// console gives the token (in hexadecimal) for a WebSocket, because no page can set another header of one. Health, metrics
    /// and the console's files, which hold no data, are for everybody; a wrong token is refused there, too.
    [[nodiscard]] std::expected<access::PrincipalPointer, Refusal> admit(const Request& request, std::string_view authorization,
                                                                         std::string_view protocols) const;

  private:
    [[nodiscard]] bool is_token(std::string_view given) const;

    /// The token itself is not kept.
    std::string token_digest_;
    access::PrincipalPointer bearer_;
    bool is_open_;
};

/// What a page offers beside the token, and what the broker takes.
inline constexpr std::string_view kWebSocketProtocol = "partita";
/// What stands before the token in hexadecimal.
inline constexpr std::string_view kWebSocketTokenPrefix = "partita.token.";

}  // namespace partita::http
