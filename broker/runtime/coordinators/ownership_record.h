#pragma once

#include <optional>
#include <string_view>

#include "broker/groups/committed_offset.h"
#include "broker/insight/history/group_history.h"
#include "protocol/function_ref.h"
#include "protocol/types.h"

namespace partita::runtime {

/// The members that read for a group, and how far the group has come, as far as the broker knows.
struct OwnershipRecord {
    insight::GroupHistory history;
    groups::Checkpoints checkpoints;
};

/// An addon that knows owners of partitions beside the groups of Kafka. Thread-safe.
class OwnershipSource {
  public:
    virtual ~OwnershipSource() = default;
    /// Unset for a group of which it knows nothing.
    [[nodiscard]] virtual std::optional<OwnershipRecord> ownership_of(std::string_view group, Now now) = 0;
    /// Shows the history of each of its groups, with a lock held.
    virtual void visit_histories(FunctionRef<void(std::string_view group, const insight::GroupHistory& history)> visit) = 0;
};

}  // namespace partita::runtime
