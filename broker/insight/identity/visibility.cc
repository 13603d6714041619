#include "broker/insight/identity/visibility.h"

#include <algorithm>

namespace partita::insight {

std::int64_t delay_for(const ClientRoles* roles, const VisibilityDelays& delays) {
    if (roles == nullptr) {
        return 0;
    }
    const std::int64_t producers_ms = roles->produces ? delays.producers_ms : 0;
    const std::int64_t consumers_ms = roles->consumes ? delays.consumers_ms : 0;
    // A negative delay counts as the longest.
    return std::min(producers_ms, consumers_ms) < 0 ? -1 : std::max(producers_ms, consumers_ms);
}

std::int32_t visible_count(std::span<const CountStep> steps, std::int32_t true_count, std::int64_t delay_ms, TimestampMs now) {
    if (delay_ms == 0) {
        return true_count;
    }
    for (const CountStep& step : steps) {
        if (delay_ms < 0 || now.value - step.time.value < delay_ms) {
            return step.old_count;
        }
    }
    return true_count;
}

}  // namespace partita::insight
