#pragma once

#include <expected>

#include "broker/client/network.h"

namespace partita::client {

/// Waits until the descriptor is ready for poll's `events`. Fails with `timed_out` at the deadline, and with `interrupted` if the
/// other descriptor becomes readable. A descriptor of -1 is never ready.
[[nodiscard]] std::expected<void, TransportFailure> wait_for(int descriptor, short events, Instant deadline, Clock& clock,
                                                             int interruption = -1);

}  // namespace partita::client
