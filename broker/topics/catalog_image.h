#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "broker/topics/catalog.h"
#include "broker/topics/catalog_commands.h"
#include "broker/topics/catalog_records.h"

namespace partita::topics {

/// What persisted records say, while they are being read. A snapshot is made once, at the end, since
/// keys come in no order that means something: an expansion may come before its topic.
class CatalogImage {
  public:
    [[nodiscard]] std::expected<void, CatalogReplayError> replay(Bytes key, std::optional<Bytes> value);

    /// Checks that the records fit together: unique names, complete expansion histories, nothing that
    /// belongs to no topic.
    [[nodiscard]] std::expected<CatalogPointer, CatalogReplayError> finish();

  private:
    using Expansions = std::map<std::int32_t, ExpansionEpoch>;

    [[nodiscard]] std::expected<void, CatalogReplayError> check_expansions(const Topic& topic,
                                                                           const Expansions& expansions) const;

    std::unordered_map<TopicId, Topic> topics_;
    std::unordered_map<TopicId, Expansions> expansions_;
    std::map<ConfigResourceType, CatalogSnapshot::ConfigsByName> configs_;
    CatalogState state_;
    CatalogIdentity identity_;
};

}  // namespace partita::topics
