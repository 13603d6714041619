#include "broker/catalog/catalog.h"

#include <algorithm>
#include <utility>

#include "broker/catalog/snapshot_editor.h"
#include "protocol/assert.h"

namespace partita::catalog {
namespace {

const ConfigMap kNoConfigs;

template <class Value>
const std::shared_ptr<const Value>& empty_shared() {
    static const std::shared_ptr<const Value> kEmpty = std::make_shared<const Value>();
    return kEmpty;
}

}  // namespace

CatalogSnapshot::CatalogSnapshot()
    : finalized_features_(empty_shared<FeatureLevels>()),
      brokers_(empty_shared<ConfigsByName>()),
      groups_(empty_shared<ConfigsByName>()),
      client_metrics_(empty_shared<ConfigsByName>()),
      client_quotas_(empty_shared<ConfigsByName>()),
      scram_credentials_(empty_shared<ConfigsByName>()),
      acls_(empty_shared<access::AclIndex>()),
      delegation_tokens_(empty_shared<DelegationTokens>()) {}

const ConfigMap& CatalogSnapshot::broker_configs(BrokerId broker) const {
    return configs_of(std::to_string(broker.value), brokers_);
}

const ConfigMap& CatalogSnapshot::configs_of(std::string_view name, const SharedConfigs& configs) {
    const auto found = configs->find(name);
    return found == configs->end() ? kNoConfigs : found->second;
}

const access::DelegationToken* CatalogSnapshot::find_delegation_token(std::string_view id) const {
    const auto found = std::ranges::lower_bound(*delegation_tokens_, id, {}, &access::DelegationToken::id);
    return found == delegation_tokens_->end() || (*found)->id != id ? nullptr : found->get();
}

const Topic* CatalogSnapshot::find_colliding_topic(std::string_view name) const { return topics_.find_colliding(name).get(); }

void SnapshotEditor::add_topics(std::vector<TopicPointer> topics) {
    PARTITA_ASSERT(draft_->topics_.empty(), "only an empty catalog is filled at once");
    for (const TopicPointer& topic : topics) {
        draft_->partition_count_ += topic->partition_count;
    }
    draft_->topics_ = TopicIndex(std::move(topics));
}

void SnapshotEditor::insert_topic(TopicPointer topic) {
    PARTITA_ASSERT(topic->partition_count >= 1, "a topic has a partition from its first moment on");
    draft_->partition_count_ += topic->partition_count;
    draft_->topics_.insert(std::move(topic));
}

void SnapshotEditor::replace_topic(TopicPointer topic) {
    const Topic* old = draft_->find_topic(topic->id);
    PARTITA_ASSERT(old != nullptr && topic->partition_count >= old->partition_count, "partition counts never shrink");
    draft_->partition_count_ += topic->partition_count - old->partition_count;
    draft_->topics_.replace(std::move(topic));
}

void SnapshotEditor::erase_topic(const Topic& topic) {
    PARTITA_ASSERT(draft_->partition_count_ >= topic.partition_count, "the partitions of a topic are counted");
    draft_->partition_count_ -= topic.partition_count;
    draft_->topics_.erase(topic);
}

std::shared_ptr<const CatalogSnapshot::ConfigsByName>& SnapshotEditor::configs_slot(ConfigResourceType type) {
    switch (type) {
        case ConfigResourceType::broker:
            return draft_->brokers_;
        case ConfigResourceType::group:
            return draft_->groups_;
        case ConfigResourceType::client_metrics:
            return draft_->client_metrics_;
        case ConfigResourceType::client_quota:
            return draft_->client_quotas_;
        case ConfigResourceType::scram_credential:
            return draft_->scram_credentials_;
        case ConfigResourceType::unknown:
        case ConfigResourceType::topic:
        case ConfigResourceType::broker_logger:
            break;
    }
    assertion_failed("type is broker, group or client_metrics", "other resources keep their configs elsewhere");
}

void SnapshotEditor::set_configs(ConfigResourceType type, std::string_view name, ConfigMap configs) {
    auto& slot = configs_slot(type);
    CatalogSnapshot::ConfigsByName changed = *slot;
    if (configs.empty()) {
        if (const auto found = changed.find(name); found != changed.end()) {
            changed.erase(found);
        }
    } else {
        changed.insert_or_assign(std::string(name), std::move(configs));
    }
    slot = std::make_shared<const CatalogSnapshot::ConfigsByName>(std::move(changed));
}

void SnapshotEditor::set_all_configs(ConfigResourceType type, CatalogSnapshot::ConfigsByName configs) {
    configs_slot(type) = std::make_shared<const CatalogSnapshot::ConfigsByName>(std::move(configs));
}

void SnapshotEditor::set_identity(std::string cluster_id, FeatureLevels features) {
    draft_->cluster_id_ = std::move(cluster_id);
    draft_->finalized_features_ = std::make_shared<const FeatureLevels>(std::move(features));
}

}  // namespace partita::catalog
