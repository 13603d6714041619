#pragma once

#include "storage/storage_error.h"

namespace partita::runtime {

/// Ends the process without a clean mark, so that the next start recovers. For a device that failed to make data durable: the
/// page cache can no longer be trusted then.
[[noreturn]] void fail_stop(const StorageError& error);

}  // namespace partita::runtime
