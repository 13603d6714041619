#pragma once

#include <expected>
#include <map>
#include <memory>
#include <string>

#include "broker/client/failure.h"
#include "broker/client/network.h"
#include "schedule/clock.h"

namespace partita::client {

/// Advice in messages about problems with certificates. An empty text: the user cannot change that setting.
struct TlsAdvice {
    std::string trusted = "ssl.truststore.location";
    std::string any_name = "ssl.endpoint.identification.algorithm= (to nothing) to accept any name";
    std::string own_certificate = "ssl.keystore.location";
    /// Where TLS may be available instead.
    std::string other_listener = "if it is a Kafka broker, use the port of its TLS listener";
};

/// The client side of TLS 1.2 and 1.3: trusted certificates and the client's own, by the settings of Kafka's clients. Immutable;
/// all connections share it.
class Tls {
  public:
    /// Reads `ssl.truststore.*`, `ssl.keystore.*`, `ssl.key.password` (PEM, PKCS12 and JKS: broker/tls), `ssl.enabled.protocols`
    /// and `ssl.endpoint.identification.algorithm`; also librdkafka's names (librdkafka_names.h). Without a trust store it trusts
    /// the machine's authorities. Fails with `bad_setting` and the name of the setting that cannot be read or used.
    [[nodiscard]] static Result<std::shared_ptr<const Tls>> of(const std::map<std::string, std::string>& properties,
                                                               TlsAdvice advice = {});
    ~Tls();

    /// Performs a handshake over `plain` and returns a transport that encrypts. The server's certificate must be trusted and
    /// match `host`, unless the settings accept any. Failures: untrusted, if one side does not trust the other or they share no
    /// version or cipher; those of `plain`.
    [[nodiscard]] std::expected<std::unique_ptr<Transport>, TransportFailure> secure(std::unique_ptr<Transport> plain,
                                                                                     const std::string& host,
                                                                                     Instant deadline) const;

  private:
    struct Parts;
    explicit Tls(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
};

}  // namespace partita::client
