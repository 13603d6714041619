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
    /// ssl.enabled.protocols, by Java's names. TLSv1.2 and TLSv1.3 are supported; older ones may be listed and have no effect, as
    /// in a Java that has disabled them. Empty: both.
    std::vector<std::string> protocols;
    /// ssl.cipher.suites: standard names, as in Java. Empty: OpenSSL's defaults.
    std::vector<std::string> cipher_suites;
    ClientAuth client_auth = ClientAuth::none;
    /// ssl.principal.mapping.rules
    PrincipalRules rules = PrincipalRules::parse("DEFAULT").value();
};

/// The TLS side of one listener: its keys, trusted certificates, versions and ciphers. Immutable, shared by threads. Connections
/// keep the parts they need, so another context may replace it at any time.
///
/// There is no renegotiation, no compression and no early data. Tickets resume sessions; their keys live as long as this context,
/// so with another one every client authenticates anew. For clients without tickets the context keeps at most `kSessionsMax`
/// sessions in memory. The client's server name (SNI) chooses among several keys; if none matches, the first of each kind is
/// used.
class ServerContext {
  public:
    static constexpr long kSessionsMax = 1024;
    static constexpr std::size_t kKeysMax = 100;

    /// The error says what is wrong, for people, and names the config (without a prefix) if one is the cause.
    [[nodiscard]] static std::expected<std::shared_ptr<const ServerContext>, std::string> make(KeyMaterial material,
                                                                                               ServerSettings settings);
    ~ServerContext();
    ServerContext(const ServerContext&) = delete;
    ServerContext& operator=(const ServerContext&) = delete;

    /// The server's end of a connection, over a non-blocking socket. The caller owns the descriptor and keeps it open as long as
    /// the connection is used. It keeps this context until the handshake is complete. Null only if memory runs out.
    [[nodiscard]] ConnectionPointer connect(int descriptor) const;

    /// Checks a connection with a complete handshake: the error says why the client's certificate is no longer valid. A client
    /// without a certificate passes.
    [[nodiscard]] static std::expected<void, std::string> check_certificate(const SSL& connection);

    /// The client's name on such a connection: the name in its certificate, mapped by the rules. Null without a certificate. The
    /// error says why the client must be rejected.
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
    /// Why it failed and what people can do. Empty unless it failed.
    std::string reason;
};

/// How many consecutive records without data a client may send after its handshake; after one more the connection reads as ended.
/// An honest client updates its keys once in a terabyte.
inline constexpr std::size_t kRecordsWithoutDataMax = 32;

/// Continues the handshake as far as the socket permits. After a failure the alert for the client has been sent if the socket had
/// room.
[[nodiscard]] HandshakeStep shake_hands(SSL& connection);

/// Explains a connection's first bytes if they cannot be a TLS handshake: what they look like instead. Null if they may be a
/// handshake, or if there are none yet.
[[nodiscard]] std::optional<std::string> why_no_handshake(std::string_view first_bytes);

}  // namespace partita::tls
