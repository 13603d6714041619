#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "broker/catalog/internal_topics.h"
#include "protocol/api_keys.h"

namespace partita::faults {

/// The groups or transactions of a request that only their coordinator may serve.
struct CoordinatorKeys {
    catalog::CoordinatorKind kind = catalog::CoordinatorKind::groups;
    /// They borrow from the request; at least one.
    std::vector<std::string_view> keys;
};

/// True if requests of this API go to a coordinator.
[[nodiscard]] bool needs_coordinator(ApiKey api);
/// Null if any broker may serve the request. `request` has the type of the API.
[[nodiscard]] std::optional<CoordinatorKeys> coordinator_keys(ApiKey api, std::int16_t version, const void* request);

}  // namespace partita::faults
