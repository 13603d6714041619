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

/// The range of records for the file of a window.
struct WindowRange {
    /// At or above the log's start at capture's last visit.
    Offset from;
    /// Not above the last stable offset.
    Offset until;
    /// The file ends with the record that brings it to this size.
    std::int64_t bytes_max = 0;
    /// False: without records there is no file.
    bool writes_empty = true;
    /// True: report unreadable records and leave them out. False: they are an error, to be tried again.
    bool leaves_out_damage = false;
};

struct WrittenWindow {
    /// The first offset behind the records of the file.
    Offset next;
    std::int64_t records = 0;
    /// Size of the file; 0 if there is none.
    std::int64_t bytes = 0;
    /// Ranges of offsets that were gone from the log before they were read: the first, and the one behind the last.
    std::vector<std::pair<Offset, Offset>> lost;
    /// Unreadable parts that were left out: about where, and why. At most the first `kToldDamageMax`.
    std::vector<std::pair<Offset, std::string>> damage;
};

/// Writes the committed records of the range to the new file `path`, and syncs it. It leaves out aborted records, markers, and
/// offsets that compaction removed. It needs memory for a block (`kBlockBytes`), the largest record and `BatchWalk`'s buffer. It
/// asks `may_go_on` between two batches, and fails with kind `closed` if that says no. After an error the path holds nothing of
/// use.
[[nodiscard]] StorageResult<WrittenWindow> write_window(FileSystem& file_system, const std::string& path, const PartitionLog& log,
                                                        const WindowRange& range, const SyncMarker& sync,
                                                        FunctionRef<bool()> may_go_on);

inline constexpr std::size_t kToldDamageMax = 100;
/// A block of a file ends with the event that brings it to this size.
inline constexpr std::size_t kBlockBytes = 256 * 1024;

}  // namespace partita::capture
