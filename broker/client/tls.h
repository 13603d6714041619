#pragma once

#include <expected>
#include <map>
#include <memory>
#include <string>

#include "broker/client/failure.h"
#include "broker/client/network.h"
#include "schedule/clock.h"

namespace partita::client {

/// What messages tell people to change, where something is wrong with certificates. Empty: that cannot be changed.
struct TlsAdvice {
    std::string trusted = "ssl.truststore.location";
    std::string any_name = "ssl.endpoint.identification.algorithm= (to nothing) to take any";
    std::string own_certificate = "ssl.keystore.location";
    /// Where TLS may be spoken instead.
    std::string other_listener = "if it is a Kafka broker, its listener there is another one";
};

/// TLS 1.2 and 1.3 as a client: whom it believes and who it is, by the settings of Kafka's clients. Immutable once made; all
/// connections share it.
class Tls {
  public:
    /// Reads `ssl.truststore.*`, `ssl.keystore.*`, `ssl.key.password` (PEM, PKCS12 and JKS: broker/tls), `ssl.enabled.protocols`
    /// and `ssl.endpoint.identification.algorithm`; also librdkafka's names (librdkafka_names.h). Without a trust store the
    /// authorities that the machine trusts are believed. bad_setting: what cannot be read or used, with its name.
    [[nodiscard]] static Result<std::shared_ptr<const Tls>> of(const std::map<std::string, std::string>& properties,
                                                               TlsAdvice advice = {});
    ~Tls();

    /// A transport that encrypts what goes over `plain`, after a handshake. The server's certificate must be believed, and be one
    /// for `host` unless the settings say that any will do. Failures: untrusted, when one side does not believe the other, or
    /// they have no version or cipher in common; those of `plain`.
    [[nodiscard]] std::expected<std::unique_ptr<Transport>, TransportFailure> secure(std::unique_ptr<Transport> plain,
                                                                                     const std::string& host,
                                                                                     Instant deadline) const;

  private:
    struct Parts;
    explicit Tls(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
};

}  // namespace partita::client
