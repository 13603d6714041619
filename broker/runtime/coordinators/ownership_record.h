#pragma once

#include <optional>
#include <string_view>

#include "broker/groups/committed_offset.h"
#include "broker/insight/history/group_history.h"
#include "protocol/function_ref.h"
#include "protocol/types.h"

namespace partita::runtime {

/// What is known of who reads for a group, and of how far it has come.
struct OwnershipRecord {
    insight::GroupHistory history;
    groups::Checkpoints checkpoints;
};

/// Who knows of owners of partitions beside the groups of Kafka: an addon. Thread-safe.
class OwnershipSource {
  public:
    virtual ~OwnershipSource() = default;
    /// Unset for a group of which it knows nothing.
    [[nodiscard]] virtual std::optional<OwnershipRecord> ownership_of(std::string_view group, Now now) = 0;
    /// Shows the history of each of its groups, with a lock held.
    virtual void visit_histories(FunctionRef<void(std::string_view group, const insight::GroupHistory& history)> visit) = 0;
};

}  // namespace partita::runtime
