#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "broker/catalog/catalog.h"
#include "protocol/assert.h"

namespace partita::catalog {

/// Makes the next snapshot from a shared one. Only the core and the replay use it.
class SnapshotEditor {
  public:
    explicit SnapshotEditor(const CatalogSnapshot& base) : draft_(std::make_shared<CatalogSnapshot>(base)) {}

    /// The snapshot made so far; later edits are visible through it.
    [[nodiscard]] const CatalogSnapshot& draft() const { return *draft_; }

    void add_topics(std::vector<TopicPointer> topics);
    void insert_topic(TopicPointer topic);
    void replace_topic(TopicPointer topic);
    void erase_topic(const Topic& topic);
    /// Configs of a broker, group or client metrics subscription; an empty map removes the resource.
    void set_configs(ConfigResourceType type, std::string_view name, ConfigMap configs);
    /// Replaces the configs of all resources of a type.
    void set_all_configs(ConfigResourceType type, CatalogSnapshot::ConfigsByName configs);
    void set_acls(std::vector<access::AclPointer> acls) {
        draft_->acls_ = std::make_shared<const access::AclIndex>(std::move(acls));
    }
    /// Ascending by id.
    void set_delegation_tokens(CatalogSnapshot::DelegationTokens tokens) {
        const auto id_of = [](const access::DelegationTokenPointer& token) -> const std::string& { return token->id; };
        PARTITA_ASSERT(std::ranges::is_sorted(tokens, {}, id_of), "a token is looked for by its id");
        draft_->delegation_tokens_ = std::make_shared<const CatalogSnapshot::DelegationTokens>(std::move(tokens));
    }
    /// Never decreases: an id is given out once.
    void set_next_producer_id(ProducerId id) {
        PARTITA_ASSERT(id >= draft_->next_producer_id_, "a producer id is given out once");
        draft_->next_producer_id_ = id;
    }
    void set_identity(std::string cluster_id, FeatureLevels features);
    /// Never decreases.
    void set_sequence(std::int64_t sequence) {
        PARTITA_ASSERT(sequence >= draft_->sequence_, "later snapshots have higher numbers");
        draft_->sequence_ = sequence;
    }

    [[nodiscard]] CatalogPointer finish() { return std::move(draft_); }

  private:
    [[nodiscard]] std::shared_ptr<const CatalogSnapshot::ConfigsByName>& configs_slot(ConfigResourceType type);

    std::shared_ptr<CatalogSnapshot> draft_;
};

}  // namespace partita::catalog
