#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "broker/catalog/catalog_commands.h"

namespace partita::catalog {

/// Holds what one command makes to the catalog's limits, topic by topic. Without limits it costs nothing; with some it counts the
/// topics once, which are few then.
class LimitedCommand {
  public:
    LimitedCommand(const CatalogSnapshot& catalog, const std::optional<CatalogLimits>& limits);

    /// Why the topic may not be made; none if it may, and then it counts for what follows.
    [[nodiscard]] CatalogError admit(const Topic& made);
    /// The same for a topic that is to have `count` partitions, more than it has.
    [[nodiscard]] CatalogError admit_growth(const Topic& grown, std::int32_t count);

  private:
    [[nodiscard]] CatalogError partitions_problem(std::int32_t count, std::int64_t added) const;

    const CatalogLimits* limits_;
    std::int64_t topics_ = 0;
    std::int64_t partitions_ = 0;
};

/// Why a topic may not have these configs: it would keep records for longer than the limits allow.
[[nodiscard]] CatalogError retention_problem(const std::optional<CatalogLimits>& limits, std::string_view topic,
                                             const ConfigMap& configs);

}  // namespace partita::catalog
