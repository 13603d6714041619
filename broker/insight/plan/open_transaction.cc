#include "broker/insight/plan/open_transaction.h"

namespace partita::insight {

std::string name_of(const OpenTransaction& transaction) {
    const std::string producer = "producer " + std::to_string(transaction.producer_id.value);
    return transaction.transactional_id.empty() ? "of " + producer + " (unknown to its coordinator)"
                                                : transaction.transactional_id + " (" + producer + ")";
}

}  // namespace partita::insight
