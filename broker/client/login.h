#pragma once

#include <map>
#include <optional>
#include <string>

#include "broker/client/failure.h"
#include "protocol/types.h"

namespace partita::client {

class Connection;

/// How a client says who it is, by SASL: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512.
struct Login {
    /// "SCRAM-SHA-256".
    std::string mechanism;
    std::string user;
    std::string password;
    /// The user is the id of a delegation token, and the password its HMAC.
    bool by_token = false;
};

/// Reads `sasl.mechanism` and `sasl.jaas.config` of a client's properties, or librdkafka's `sasl.username` and `sasl.password`
/// where there is no JAAS line. bad_setting: a JAAS line that cannot be read (Kafka's text), that names no user, or a mechanism
/// that is not served.
[[nodiscard]] Result<Login> login_of(const std::map<std::string, std::string>& properties);

/// Logs in over a connection that has done nothing but ask for versions. Failures: refused with what the broker says
/// (SASL_AUTHENTICATION_FAILED, UNSUPPORTED_SASL_MECHANISM), or when it does not know the password itself; those of `call`.
[[nodiscard]] Result<void> log_in(Connection& connection, const Login& login, Instant deadline);

}  // namespace partita::client
