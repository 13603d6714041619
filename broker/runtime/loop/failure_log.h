#pragma once

#include <string_view>

#include "broker/config/log_setup.h"
#include "schedule/clock.h"

namespace partita::runtime {

/// Log lines about what clients or devices can make happen many times a second: one of a kind a second, which says how many were
/// left out. Thread-safe.
class FailureLog {
  public:
    explicit FailureLog(Clock& clock) : clock_(clock) {}

    /// A producer's records could not be written.
    void append_failed(std::string_view reason);
    /// A coordinator's records could not be written or read.
    void coordinator_append_failed(std::string_view log_name, std::string_view reason);
    void accept_failed(std::string_view reason);
    /// `client`: address and port. The kind of the reason is what stands before its first digit: the numbers are a stranger's choice.
    void connection_closed(std::string_view client, std::string_view listener, std::string_view reason);

  private:
    Clock& clock_;
    log::RateLimiter limiter_;
};

}  // namespace partita::runtime
