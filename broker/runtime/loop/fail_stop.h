#pragma once

#include "storage/storage_error.h"

namespace partita::runtime {

/// Ends the process without a clean mark, so that the next start recovers. Called after a device failed to make data durable: the
/// broker can no longer trust the page cache then.
[[noreturn]] void fail_stop(const StorageError& error);

}  // namespace partita::runtime
