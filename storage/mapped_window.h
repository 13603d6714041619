#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "protocol/types.h"
#include "storage/file_system.h"

namespace partita {

/// The maximum number of windows in a process. Linux gives a process 65,530 mappings by default (vm.max_map_count), and other
/// code needs some of them.
inline constexpr std::size_t kWindowsMax = 4096;

/// Implements File::open_window for a file of the operating system. `path` is for messages; the caller may close `descriptor`
/// afterwards. The first call takes over the process's SIGBUS handler. Signals that do not come from a window go to the earlier
/// handler.
[[nodiscard]] StorageResult<std::unique_ptr<FileWindow>> map_window(int descriptor, const std::string& path,
                                                                    std::uint64_t position, std::uint64_t length);

}  // namespace partita
