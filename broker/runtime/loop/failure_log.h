#pragma once

#include <string_view>

#include "broker/config/log_setup.h"
#include "schedule/clock.h"

namespace partita::runtime {

/// Writes log lines about failures that clients or devices can cause many times a second. It writes at most one line of each kind
/// per second, and the line says how many were left out. Thread-safe.
class FailureLog {
  public:
    explicit FailureLog(Clock& clock) : clock_(clock) {}

    /// A producer's records could not be written.
    void append_failed(std::string_view reason);
    /// A coordinator's records could not be written or read.
    void coordinator_append_failed(std::string_view log_name, std::string_view reason);
    void accept_failed(std::string_view reason);
    /// `client` is an address and port. The kind of the line is the text before the first digit of `reason`, because a client may
    /// have chosen the numbers.
    void connection_closed(std::string_view client, std::string_view listener, std::string_view reason);

    /// `address` is numeric.
    void wrong_http_token(std::string_view address);

  private:
    Clock& clock_;
    log::RateLimiter limiter_;
};

}  // namespace partita::runtime
