#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "broker/access/session.h"
#include "broker/http/exchange.h"

namespace partita::http {

/// Decides who may send requests over HTTP: the bearer of the broker's token, and callers without one as far as the settings
/// allow. The rules decide what a caller may then do (authorize.h). Immutable, so any thread may use it. It reads no file and no
/// clock.
class Gate {
  public:
    /// A shorter token could be guessed.
    static constexpr std::size_t kTokenBytesMin = 16;
    static constexpr std::size_t kTokenBytesMax = 4096;

    struct Settings {
        /// Empty means no token.
        std::string token;
        /// The principal of the token's bearer.
        access::PrincipalPointer bearer = access::Principal::anonymous();
        /// Serves everything to every caller; allowed only without a token.
        bool is_open = true;
    };
    /// The gate of a broker that has no token and listens to this machine alone.
    Gate() : Gate(Settings{}) {}
    explicit Gate(Settings settings);

    [[nodiscard]] bool has_token() const { return !token_digest_.empty(); }
    /// True if `caller` may know who uses the broker; its metrics then include names. That is the bearer of the token, and every
    /// caller if everything is served without a token.
    [[nodiscard]] bool tells_names_to(const access::Principal& caller) const;

    /// Why a caller gets no answer.
    struct Refusal {
        /// A full sentence.
        std::string_view reason;
        /// The value of the header WWW-Authenticate; empty if no token would help.
        std::string_view challenge;
        /// The caller tries tokens, or has an old one.
        bool is_of_wrong_token = false;
    };
    /// Returns the caller's principal. `authorization` is the header of this name. `protocols` is Sec-WebSocket-Protocol: a page
    /// of the console puts the token there (in hexadecimal) for a WebSocket, because a page can set no other header of one. All
    /// callers may read health, metrics and the console's files, which hold no data; a wrong token is refused there, too.
    [[nodiscard]] std::expected<access::PrincipalPointer, Refusal> admit(const Request& request, std::string_view authorization,
                                                                         std::string_view protocols) const;

  private:
    [[nodiscard]] bool is_token(std::string_view given) const;

    /// A digest, so that the token itself is not kept.
    std::string token_digest_;
    access::PrincipalPointer bearer_;
    bool is_open_;
};

/// The protocol that a page offers beside the token, and that the broker selects.
inline constexpr std::string_view kWebSocketProtocol = "partita";
/// The prefix of the token in hexadecimal.
inline constexpr std::string_view kWebSocketTokenPrefix = "partita.token.";

}  // namespace partita::http
