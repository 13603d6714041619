#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "broker/addons/capture/core/event_data.h"
#include "protocol/function_ref.h"
#include "protocol/types.h"
#include "storage/file_system.h"
#include "storage/partition_log.h"

namespace partita::capture {

/// What goes into the file of a window.
struct WindowRange {
    /// At or above the log's start when capture came here last.
    Offset from;
    /// Not above the last stable offset.
    Offset until;
    /// The file ends with the record that brings it to this size.
    std::int64_t bytes_max = 0;
    /// False: without a record there is no file.
    bool writes_empty = true;
    /// What cannot be read is told and left out; otherwise it is an error, to be tried again.
    bool leaves_out_damage = false;
};

struct WrittenWindow {
    /// The first offset behind what is in the file.
    Offset next;
    std::int64_t records = 0;
    /// Size of the file; 0 when there is none.
    std::int64_t bytes = 0;
    /// Offsets that were gone from the log before they were read: first, and behind the last.
    std::vector<std::pair<Offset, Offset>> lost;
    /// What could not be read and was left out: about where, and why. The first `kToldDamageMax`.
    std::vector<std::pair<Offset, std::string>> damage;
};

/// Writes the committed records of the range to the file `path`, which it makes, and syncs it. Records of aborted transactions
/// and markers are left out, and so are offsets that compaction took. It needs memory for a block (`kBlockBytes`), the largest
/// record and `BatchWalk`'s buffer. Between two batches it asks `may_go_on` and otherwise fails with kind `closed`. After an
/// error the path holds nothing of use.
[[nodiscard]] StorageResult<WrittenWindow> write_window(FileSystem& file_system, const std::string& path, const PartitionLog& log,
                                                        const WindowRange& range, const SyncMarker& sync,
                                                        FunctionRef<bool()> may_go_on);

inline constexpr std::size_t kToldDamageMax = 100;
/// A block of a file ends with the event that brings it to this size.
inline constexpr std::size_t kBlockBytes = 256 * 1024;

}  // namespace partita::capture
