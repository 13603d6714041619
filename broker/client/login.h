#pragma once

#include <map>
#include <optional>
#include <string>

#include "broker/client/failure.h"
#include "protocol/types.h"

namespace partita::client {

class Connection;

/// A client's SASL login: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512.
struct Login {
    /// "SCRAM-SHA-256".
    std::string mechanism;
    std::string user;
    std::string password;
    /// The user is the id of a delegation token, and the password its HMAC.
    bool by_token = false;
};

/// Reads `sasl.mechanism` and `sasl.jaas.config` from a client's properties, or librdkafka's `sasl.username` and `sasl.password`
/// if there is no JAAS line. Fails with `bad_setting` for an invalid JAAS line (Kafka's text), one without a user, or an
/// unsupported mechanism.
[[nodiscard]] Result<Login> login_of(const std::map<std::string, std::string>& properties);

/// Logs in over a connection that has sent nothing but ApiVersions. Failures: refused with the broker's text
/// (SASL_AUTHENTICATION_FAILED, UNSUPPORTED_SASL_MECHANISM), or because the broker does not know the password itself; those of
/// `call`.
[[nodiscard]] Result<void> log_in(Connection& connection, const Login& login, Instant deadline);

}  // namespace partita::client
