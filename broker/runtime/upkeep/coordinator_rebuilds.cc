#include "broker/runtime/upkeep/coordinator_rebuilds.h"

#include <algorithm>

#include "broker/runtime/coordinators/coordinator_host.h"
#include "broker/runtime/upkeep/keyed_logs.h"

namespace partita::runtime {

void CoordinatorRebuilds::hear(const UpkeepBell::Heard& heard, Instant now) {
    if (heard.coordinator_lost) {
        rebuild_ = {.pending = true, .due = std::max(now, next_)};
    }
}

void CoordinatorRebuilds::run_due(Now now) {
    if (!rebuild_.is_due(now.monotonic)) {
        return;
    }
    next_ = now.monotonic + kPauseMs;
    // A rebuild may write to the store.
    const bool is_done = keyed_logs_.while_nobody_writes([&] {
        bool all_rebuilt = true;
        for (const auto& [kind, host] : coordinators_.all()) {
            all_rebuilt = host->rebuild_lost() && all_rebuilt;
        }
        return all_rebuilt;
    });
    rebuild_ = {.pending = !is_done, .due = now.monotonic + kRetryMs};
}

}  // namespace partita::runtime
