#include "broker/runtime/coordinators/coordinator_host.h"

#include <algorithm>

#include "protocol/assert.h"

namespace partita::runtime {

CoordinatorHost& CoordinatorHosts::of(topics::CoordinatorKind kind) const {
    const auto found = std::ranges::find(hosts_, kind, [](const auto& host) { return host.first; });
    PARTITA_ASSERT(found != hosts_.end(), "every kind of coordinator was added");
    return *found->second;
}

}  // namespace partita::runtime
