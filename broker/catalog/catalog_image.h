#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

#include "broker/catalog/catalog.h"
#include "broker/catalog/catalog_records.h"
#include "broker/catalog/commands.h"

namespace partita::catalog {

/// Collects persisted records during the replay. It makes the snapshot once, at the end, because keys come in any order: an
/// expansion may come before its topic.
class CatalogImage {
  public:
    [[nodiscard]] std::expected<void, CatalogReplayError> replay(Bytes key, std::optional<Bytes> value);

    /// Checks that the records fit together: unique names, complete expansion histories, no record without its topic.
    [[nodiscard]] std::expected<CatalogPointer, CatalogReplayError> finish();

  private:
    using Expansions = std::map<std::int32_t, ExpansionEpoch>;

    /// By epoch, then in the order that `ExpansionEpoch::producer_switches` promises.
    using ProducerSwitches = std::map<std::tuple<std::int32_t, std::string, std::string>, ProducerSwitch>;

    [[nodiscard]] std::expected<void, CatalogReplayError> check_expansions(const Topic& topic,
                                                                           const Expansions& expansions) const;
    /// Attaches the producers' switches of a topic to its expansions.
    [[nodiscard]] std::expected<void, CatalogReplayError> place_switches(const Topic& topic, Expansions& expansions);

    std::unordered_map<TopicId, Topic> topics_;
    std::unordered_map<TopicId, Expansions> expansions_;
    std::unordered_map<TopicId, ProducerSwitches> producer_switches_;
    std::map<ConfigResourceType, CatalogSnapshot::ConfigsByName> configs_;
    std::set<access::Acl> acls_;
    std::map<std::string, access::DelegationToken, std::less<>> delegation_tokens_;
    CatalogState state_;
    CatalogIdentity identity_;
};

}  // namespace partita::catalog
