#include "broker/runtime/loop/fail_stop.h"

#include <cstdlib>

#include "broker/config/log_setup.h"

namespace partita::runtime {

void fail_stop(const StorageError& error) {
    log::error("storage", "storage failed; the broker stops and recovers its logs at its next start",
               {{"reason", error.message}});
    std::_Exit(1);
}

}  // namespace partita::runtime
