#pragma once

#include <cstdint>

#include "broker/config/broker_config.h"
#include "broker/transactions/transaction_coordinator.h"

namespace partita::runtime {

/// What the coordinators of transactions want to know of the broker's settings, and the finalized level of the feature
/// `transaction.version`.
[[nodiscard]] transactions::TransactionConfig transaction_settings(const config::BrokerConfig& config,
                                                                   std::int16_t transaction_version);

/// How long a transaction can be open that has a coordinator: as long as a producer may ask for, and until it is looked for.
[[nodiscard]] std::int64_t longest_transaction_ms(const config::BrokerConfig& config);

}  // namespace partita::runtime
