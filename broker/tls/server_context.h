#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/tls/key_material.h"
#include "broker/tls/openssl.h"
#include "broker/tls/principal_rules.h"

namespace partita::tls {

/// ssl.client.auth
enum class ClientAuth : std::uint8_t { none, requested, required };

struct ServerSettings {
    /// ssl.enabled.protocols: Java's names. Of these TLSv1.2 and TLSv1.3 are served; the older ones may be named, as in a Java
    /// that has disabled them. Empty: both.
    std::vector<std::string> protocols;
    /// ssl.cipher.suites: the names of the standard, as Java has them. Empty: those that OpenSSL takes.
    std::vector<std::string> cipher_suites;
    ClientAuth client_auth = ClientAuth::none;
    /// ssl.principal.mapping.rules
    PrincipalRules rules = PrincipalRules::parse("DEFAULT").value();
};

/// What one listener's side of TLS is made of: who the broker is, whom it believes, versions and ciphers. Immutable, shared by
/// threads; connections keep what they need of it, so another one may take its place at any time.
///
/// There is no renegotiation, no compression and no early data. Sessions are resumed by tickets, whose keys live as long as this
/// context: with another one every client proves anew who it is. Clients that know no tickets find at most `kSessionsMax`
/// sessions in memory. Of several keys the client's server name (SNI) chooses; where none fits, the first of each kind is taken.
class ServerContext {
  public:
    static constexpr long kSessionsMax = 1024;
    static constexpr std::size_t kKeysMax = 100;

    /// The error says what is wrong for people, with the name of the config (without a prefix) where it is one.
    [[nodiscard]] static std::expected<std::shared_ptr<const ServerContext>, std::string> make(KeyMaterial material,
                                                                                               ServerSettings settings);
    ~ServerContext();
    ServerContext(const ServerContext&) = delete;
    ServerContext& operator=(const ServerContext&) = delete;

    /// The server's end of a connection, over a socket that does not block. The caller owns the descriptor and keeps it open as
    /// long as the connection is used, and this context until the handshake is complete. Null only without memory.
    [[nodiscard]] ConnectionPointer connect(int descriptor) const;

    /// Of a connection whose handshake is complete: the error says why the certificate that the client showed lets it in no
    /// more. One that showed none is let in.
    [[nodiscard]] static std::expected<void, std::string> check_certificate(const SSL& connection);

    /// Who the client of such a connection is: the name in its certificate after the rules. Null when it showed none. The error
    /// says why it cannot be let in.
    [[nodiscard]] std::expected<std::optional<std::string>, std::string> client_of(const SSL& connection) const;

  private:
    struct Parts;
    explicit ServerContext(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
};

/// One step of a handshake.
struct HandshakeStep {
    enum class Status : std::uint8_t { complete, wants_to_receive, wants_to_send, gone, failed };
    Status status = Status::complete;
    /// Why it failed and what may be done, for people. Empty unless it did.
    std::string reason;
};

/// So many records in a row that hold no data are taken of a client after its handshake; with one more the connection reads as
/// ended. An honest client changes its keys once in a terabyte.
inline constexpr std::size_t kRecordsWithoutDataMax = 32;

/// Goes on with the handshake as far as the socket lets it. When it has failed the alert for the client was sent as far as there
/// was room.
[[nodiscard]] HandshakeStep shake_hands(SSL& connection);

/// What is wrong with the first bytes of a connection if they are no handshake of TLS: what else they look like. Null when they
/// may be one, also when there are none yet.
[[nodiscard]] std::optional<std::string> why_no_handshake(std::string_view first_bytes);

}  // namespace partita::tls
