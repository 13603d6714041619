#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "protocol/types.h"
#include "storage/file_system.h"

namespace partita {

/// A process has at most so many windows at a time: Linux gives it 65,530 mappings by default (vm.max_map_count), and others
/// need some.
inline constexpr std::size_t kWindowsMax = 4096;

/// File::open_window for a file of the operating system: `path` is for messages, `descriptor` may be closed afterwards. The first
/// call takes over the process's SIGBUS, and passes on to who had it before what does not come from a window.
[[nodiscard]] StorageResult<std::unique_ptr<FileWindow>> map_window(int descriptor, const std::string& path,
                                                                    std::uint64_t position, std::uint64_t length);

}  // namespace partita
