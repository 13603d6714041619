#pragma once

#include <string>
#include <vector>

#include "protocol/types.h"

namespace partita::insight {

/// A transaction that is open in partitions of a topic. Readers of committed records see nothing behind its first record there.
struct OpenTransaction {
    ProducerId producer_id;
    /// Empty if no coordinator knows the producer: then only `kafka-transactions` can end it.
    std::string transactional_id;
    /// Ascending, not empty.
    std::vector<PartitionIndex> partitions;

    friend bool operator==(const OpenTransaction&, const OpenTransaction&) = default;
};

/// "payments-1 (producer 1000)", or "of producer 1000 (unknown to its coordinator)".
[[nodiscard]] std::string name_of(const OpenTransaction& transaction);

}  // namespace partita::insight
