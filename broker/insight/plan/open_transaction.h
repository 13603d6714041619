#pragma once

#include <string>
#include <vector>

#include "protocol/types.h"

namespace partita::insight {

/// A transaction that is open in partitions of a topic: who reads committed records sees nothing behind its first record there.
struct OpenTransaction {
    ProducerId producer_id;
    /// Empty when no coordinator knows the producer: nobody but `kafka-transactions` will end it.
    std::string transactional_id;
    /// Ascending, not empty.
    std::vector<PartitionIndex> partitions;

    friend bool operator==(const OpenTransaction&, const OpenTransaction&) = default;
};

/// "payments-1 (producer 1000)", or "of producer 1000 (unknown to its coordinator)".
[[nodiscard]] std::string name_of(const OpenTransaction& transaction);

}  // namespace partita::insight
