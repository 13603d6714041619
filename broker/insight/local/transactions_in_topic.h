#pragma once

#include <vector>

#include "broker/insight/plan/open_transaction.h"

namespace partita::logs {
struct TopicState;
}  // namespace partita::logs

namespace partita::runtime {
class TransactionShards;
}  // namespace partita::runtime

namespace partita::insight {

/// The open transactions in a topic, by the ids of their producers. It looks at the producers of partitions with open
/// transactions. It takes the locks of these logs and of all transaction coordinators, one by one.
[[nodiscard]] std::vector<OpenTransaction> open_transactions(const logs::TopicState& topic,
                                                             runtime::TransactionShards& transactions);

}  // namespace partita::insight
