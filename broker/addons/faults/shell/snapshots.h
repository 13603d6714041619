#pragma once

#include "storage/data_change.h"
#include "storage/data_snapshots.h"

namespace partita::faults {

/// The snapshots of this broker's data directory.
struct Snapshots {
    DataSnapshots files;
    /// Empty if this process cannot begin anew over other data.
    ChangeData change;
};

}  // namespace partita::faults
