#pragma once

#include <cstdint>
#include <string_view>

#include "protocol/types.h"

namespace partita::handlers {

/// Delays clients that commit too often. Thread-safe: all reactors use it.
class CommitGate {
  public:
    virtual ~CommitGate() = default;
    /// True while no commit has to wait. Costs one load.
    [[nodiscard]] virtual bool is_open() const = 0;
    /// Counts a commit of one partition. Returns the milliseconds that the client must wait.
    [[nodiscard]] virtual std::int64_t admit_commit(std::string_view group, std::string_view topic, PartitionIndex partition,
                                                    Now now) = 0;
};

}  // namespace partita::handlers
