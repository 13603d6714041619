#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "broker/catalog/commands.h"

namespace partita::catalog {

/// Applies the catalog's limits to the topics that one command makes, one by one. Without limits it costs nothing. With limits it
/// counts the topics once, which are few then.
class LimitedCommand {
  public:
    LimitedCommand(const CatalogSnapshot& catalog, const std::optional<CatalogLimits>& limits);

    /// The reason against the topic; `none` if it is allowed, and then it counts for later topics.
    [[nodiscard]] CatalogError admit(const Topic& made);
    /// The same for a topic that grows to `count` partitions.
    [[nodiscard]] CatalogError admit_growth(const Topic& grown, std::int32_t count);

  private:
    [[nodiscard]] CatalogError partitions_problem(std::int32_t count, std::int64_t added) const;

    const CatalogLimits* limits_;
    std::int64_t topics_ = 0;
    std::int64_t partitions_ = 0;
};

/// The reason why a topic may not have these configs: it would keep records for longer than the limits allow.
[[nodiscard]] CatalogError retention_problem(const std::optional<CatalogLimits>& limits, std::string_view topic,
                                             const ConfigMap& configs);

}  // namespace partita::catalog
