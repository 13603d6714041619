#pragma once

#include "broker/config/broker_config.h"

namespace partita {

/// Whether the broker's memory holds what only its owner may know: passwords, private keys of certificates, tokens.
[[nodiscard]] bool holds_secrets(const config::BrokerConfig& config);

/// From now on the kernel writes no core dump of this process, and debuggers need more rights than its user has: in a dump there
/// would be every password and key. False when the kernel refuses.
[[nodiscard]] bool forbid_core_dumps();

}  // namespace partita
