#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "storage/data_snapshots.h"
#include "storage/storage_error.h"

namespace partita {

/// A wish to end the running broker, to do this with its data directory, and to begin anew in the same process.
struct DataChange {
    enum class Kind : std::uint8_t { take, restore };
    Kind kind = Kind::take;
    /// The name of the snapshot; see DataSnapshots::is_name.
    std::string name;
    /// Called once, on the thread that starts the next broker, when that one serves clients. After an error the data directory is
    /// what it was.
    std::function<void(const StorageResult<DataSnapshots::Snapshot>& snapshot)> done;
};

/// Begins a change. False if another one is on its way, or if the broker stops. Any thread may call it.
using ChangeData = std::function<bool(DataChange)>;

}  // namespace partita
