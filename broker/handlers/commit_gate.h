#pragma once

#include <cstdint>
#include <string_view>

#include "protocol/types.h"

namespace partita::handlers {

/// Makes clients wait that commit too often. Thread-safe: all reactors ask it.
class CommitGate {
  public:
    virtual ~CommitGate() = default;
    /// True while no commit has to wait: one load.
    [[nodiscard]] virtual bool is_open() const = 0;
    /// Counts a commit of one partition. Returns for how many milliseconds the client has to wait.
    [[nodiscard]] virtual std::int64_t admit_commit(std::string_view group, std::string_view topic, PartitionIndex partition,
                                                    Now now) = 0;
};

}  // namespace partita::handlers
