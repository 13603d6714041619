#pragma once

#include <string>

#include "storage/storage_error.h"

namespace partita::runtime {

/// The message of a failed start with what to do about it, where the file that cannot be read is one that can be made anew or
/// done without.
[[nodiscard]] std::string with_repair_hint(const StorageError& error);

}  // namespace partita::runtime
