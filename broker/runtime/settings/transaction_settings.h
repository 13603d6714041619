#pragma once

#include <cstdint>

#include "broker/config/broker_config.h"
#include "broker/transactions/transaction_coordinator.h"

namespace partita::runtime {

/// The settings of the transaction coordinators: from the broker's settings, and the finalized level of the feature
/// `transaction.version`.
[[nodiscard]] transactions::TransactionConfig transaction_settings(const config::BrokerConfig& config,
                                                                   std::int16_t transaction_version);

/// How long a transaction with a coordinator can stay open: the longest timeout that a producer may ask for, plus the time until
/// the coordinator looks for expired ones.
[[nodiscard]] std::int64_t longest_transaction_ms(const config::BrokerConfig& config);

}  // namespace partita::runtime
