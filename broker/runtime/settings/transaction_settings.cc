#include "broker/runtime/settings/transaction_settings.h"

namespace partita::runtime {

transactions::TransactionConfig transaction_settings(const config::BrokerConfig& config, std::int16_t transaction_version) {
    return {
        .max_timeout_ms = config.transaction_max_timeout_ms,
        .id_expiration_ms = config.transactional_id_expiration_ms,
        .abort_check_interval_ms = config.transaction_abort_timed_out_transaction_cleanup_interval_ms,
        .id_expiry_check_interval_ms = config.transaction_remove_expired_transaction_cleanup_interval_ms,
        .version = static_cast<transactions::TransactionVersion>(transaction_version),
    };
}

std::int64_t longest_transaction_ms(const config::BrokerConfig& config) {
    return std::int64_t{config.transaction_max_timeout_ms} + config.transaction_abort_timed_out_transaction_cleanup_interval_ms;
}

}  // namespace partita::runtime
