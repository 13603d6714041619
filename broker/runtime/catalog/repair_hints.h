#pragma once

#include <string>

#include "storage/storage_error.h"

namespace partita::runtime {

/// The message of a failed start. It adds what to do if the unreadable file can be recreated or is not needed.
[[nodiscard]] std::string with_repair_hint(const StorageError& error);

}  // namespace partita::runtime
