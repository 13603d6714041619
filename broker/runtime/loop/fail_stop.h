#pragma once

#include "storage/storage_error.h"

namespace partita::runtime {

/// A device failed to make data durable: what the page cache holds can no longer be trusted. Ends the process without a clean
/// mark, so that the next start recovers.
[[noreturn]] void fail_stop(const StorageError& error);

}  // namespace partita::runtime
