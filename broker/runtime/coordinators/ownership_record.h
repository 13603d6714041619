#pragma once

#include "broker/groups/committed_offset.h"
#include "broker/insight/history/group_history.h"

namespace partita::runtime {

/// What is known of who reads for a group, and of how far it has come.
struct OwnershipRecord {
    insight::GroupHistory history;
    groups::Checkpoints checkpoints;
};

}  // namespace partita::runtime
