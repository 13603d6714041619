#pragma once

#include "broker/config/broker_config.h"

namespace partita {

/// True if the broker's memory holds secrets: passwords, private keys of certificates, tokens.
[[nodiscard]] bool holds_secrets(const config::BrokerConfig& config);

/// Makes the kernel write no core dump of this process from now on, because a dump would contain every password and key.
/// Debuggers then need more rights than the process's user has. False if the kernel refuses.
[[nodiscard]] bool forbid_core_dumps();

}  // namespace partita
