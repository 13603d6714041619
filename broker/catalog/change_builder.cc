#include "broker/catalog/change_builder.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "broker/catalog/catalog_records.h"
#include "protocol/assert.h"
#include "protocol/utf16.h"

namespace partita::catalog {

SnapshotEditor& ChangeBuilder::editor() {
    if (!editor_) {
        editor_.emplace(*base_);
    }
    return *editor_;
}

void ChangeBuilder::create_topic(Topic topic, std::vector<std::vector<BrokerId>> assignments) {
    PARTITA_ASSERT(topic.expansions.empty(), "a new topic has not grown");
    effects_.records.push_back(topic_record(topic));
    auto after = std::make_shared<const Topic>(std::move(topic));
    editor().insert_topic(after);
    effects_.changes.push_back({.kind = CatalogChange::Kind::topic_created,
                                .before = nullptr,
                                .after = std::move(after),
                                .assignments = std::move(assignments)});
}

void ChangeBuilder::delete_topic(const TopicPointer& topic) {
    effects_.records.push_back(tombstone(TopicKey{topic->id}));
    for (const auto& expansion : topic->expansions) {
        effects_.records.push_back(tombstone(ExpansionKey{topic->id, expansion->epoch}));
        for (const ProducerSwitch& producer : expansion->producer_switches) {
            effects_.records.push_back(
                tombstone(ProducerSwitchKey{topic->id, expansion->epoch, producer.client_id, producer.address}));
        }
    }
    editor().erase_topic(*topic);
    effects_.changes.push_back({.kind = CatalogChange::Kind::topic_deleted, .before = topic});
}

void ChangeBuilder::expand_topic(const TopicPointer& before, Topic after, std::vector<std::vector<BrokerId>> assignments) {
    PARTITA_ASSERT(after.expansions.size() == before->expansions.size() + 1, "every expansion leaves an entry");
    const ExpansionEpoch& expansion = *after.expansions.back();
    PARTITA_ASSERT(std::cmp_equal(expansion.epoch, after.expansions.size()), "epochs are dense: a replay takes no gap");
    PARTITA_ASSERT(may_follow(before->partition_count, expansion) && expansion.new_partition_count == after.partition_count,
                   "an expansion leads from the old count to the new one: a replay takes no other");
    effects_.records.push_back(topic_record(after));
    effects_.records.push_back(expansion_record(after.id, *after.expansions.back()));
    auto shared = std::make_shared<const Topic>(std::move(after));
    editor().replace_topic(shared);
    effects_.changes.push_back({.kind = CatalogChange::Kind::topic_expanded,
                                .before = before,
                                .after = std::move(shared),
                                .assignments = std::move(assignments)});
}

void ChangeBuilder::publish_annotation(const TopicPointer& before, Topic after) {
    PARTITA_ASSERT(after.partition_count == before->partition_count, "a note changes no partition");
    auto shared = std::make_shared<const Topic>(std::move(after));
    editor().replace_topic(shared);
    effects_.changes.push_back({.kind = CatalogChange::Kind::expansion_annotated, .before = before, .after = std::move(shared)});
}

void ChangeBuilder::record_switches(const TopicPointer& before, Topic after, std::int32_t epoch,
                                    std::span<const ProducerSwitch> added) {
    for (const ProducerSwitch& producer : added) {
        effects_.records.push_back(producer_switch_record(after.id, epoch, producer));
    }
    publish_annotation(before, std::move(after));
}

void ChangeBuilder::annotate_expansion(const TopicPointer& before, Topic after, std::int32_t epoch) {
    PARTITA_ASSERT(epoch >= 1 && std::cmp_less_equal(epoch, after.expansions.size()), "only what happened is annotated");
    effects_.records.push_back(expansion_record(after.id, *after.expansions[static_cast<std::size_t>(epoch) - 1]));
    publish_annotation(before, std::move(after));
}

void ChangeBuilder::reconfigure_topic(const TopicPointer& before, ConfigMap configs) {
    Topic after = *before;
    after.configs = std::move(configs);
    effects_.records.push_back(topic_record(after));
    auto shared = std::make_shared<const Topic>(std::move(after));
    editor().replace_topic(shared);
    effects_.changes.push_back({.kind = CatalogChange::Kind::topic_reconfigured,
                                .before = before,
                                .after = std::move(shared),
                                .resource_type = ConfigResourceType::topic,
                                .resource_name = before->name});
}

void ChangeBuilder::set_configs(ConfigResourceType type, std::string_view name, ConfigMap configs) {
    effects_.records.push_back(configs.empty() ? tombstone(ConfigsKey{type, name}) : configs_record(type, name, configs));
    editor().set_configs(type, name, std::move(configs));
    effects_.changes.push_back(
        {.kind = CatalogChange::Kind::configs_changed, .resource_type = type, .resource_name = std::string(name)});
}

void ChangeBuilder::change_acls(std::span<const access::AclPointer> added, std::span<const access::AclPointer> removed) {
    std::vector<access::AclPointer> acls;
    acls.reserve(draft().acls().size() + added.size());
    const auto value = [](const access::AclPointer& acl) -> const access::Acl& { return *acl; };
    std::ranges::copy_if(draft().acls().acls(), std::back_inserter(acls),
                         [&](const access::AclPointer& acl) { return !std::ranges::binary_search(removed, *acl, {}, value); });
    acls.insert(acls.end(), added.begin(), added.end());
    for (const access::AclPointer& acl : added) {
        effects_.records.push_back(acl_record(*acl));
    }
    for (const access::AclPointer& acl : removed) {
        effects_.records.push_back(tombstone(AclKey{*acl}));
    }
    editor().set_acls(std::move(acls));
    effects_.changes.push_back({.kind = CatalogChange::Kind::acls_changed});
}

void ChangeBuilder::put_delegation_token(access::DelegationTokenPointer token) {
    effects_.records.push_back(delegation_token_record(*token));
    CatalogSnapshot::DelegationTokens tokens = draft().delegation_tokens();
    const auto place = std::ranges::lower_bound(tokens, token->id, {}, &access::DelegationToken::id);
    if (place != tokens.end() && (*place)->id == token->id) {
        *place = std::move(token);
    } else {
        tokens.insert(place, std::move(token));
    }
    editor().set_delegation_tokens(std::move(tokens));
    effects_.changes.push_back({.kind = CatalogChange::Kind::delegation_tokens_changed});
}

void ChangeBuilder::remove_delegation_tokens(std::span<const std::string> ids) {
    CatalogSnapshot::DelegationTokens tokens = draft().delegation_tokens();
    const std::set<std::string_view> removed(ids.begin(), ids.end());
    std::erase_if(tokens, [&](const access::DelegationTokenPointer& token) { return removed.contains(token->id); });
    for (const std::string& id : ids) {
        effects_.records.push_back(tombstone(DelegationTokenKey{id}));
    }
    editor().set_delegation_tokens(std::move(tokens));
    effects_.changes.push_back({.kind = CatalogChange::Kind::delegation_tokens_changed});
}

void ChangeBuilder::set_next_producer_id(ProducerId id) { editor().set_next_producer_id(id); }

void ChangeBuilder::set_identity(std::string_view cluster_id, const FeatureLevels& features) {
    effects_.records.push_back(identity_record(cluster_id, features));
    editor().set_identity(std::string(cluster_id), features);
    effects_.changes.push_back({.kind = CatalogChange::Kind::identity_changed});
}

Effects ChangeBuilder::finish() {
    effects_.base_sequence = base_->sequence();
    if (editor_) {
        editor_->set_sequence(next_sequence());
        effects_.records.push_back(state_record(next_sequence(), draft().next_producer_id()));
        effects_.next = editor_->finish();
        editor_.reset();
    }
    return std::move(effects_);
}

TopicId fresh_topic_id(const CatalogContext& context, const CatalogSnapshot& catalog) {
    // A random id is taken with probability 2^-122; a generator that repeats itself is broken.
    constexpr int kAttempts = 64;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        const TopicId id = context.next_topic_id();
        // Kafka reserves 0 and 1 (no id, and the metadata log's). It avoids ids whose text begins with '-', which command lines
        // would take for an option.
        const bool reserved =
            std::ranges::all_of(std::span(id.bytes).first(15), [](auto byte) { return byte == 0; }) && id.bytes[15] <= 1;
        const bool looks_like_an_option = (id.bytes[0] >> 2) == 62;
        if (!reserved && !looks_like_an_option && catalog.find_topic(id) == nullptr) {
            return id;
        }
    }
    assertion_failed("a fresh topic id", "the generator of topic ids repeats itself");
}

std::optional<std::string> assignment_problem(std::span<const BrokerId> brokers, std::optional<std::size_t> expected_replicas,
                                              std::span<const BrokerId> registered) {
    const std::string prefix = "The manual partition assignment includes ";
    if (brokers.empty()) {
        return prefix + "an empty replica list.";
    }
    std::vector<BrokerId> sorted(brokers.begin(), brokers.end());
    std::ranges::sort(sorted);
    for (std::size_t index = 0; index < sorted.size(); ++index) {
        const std::string broker = std::to_string(sorted[index].value);
        if (std::ranges::find(registered, sorted[index]) == registered.end()) {
            return prefix + "broker " + broker + ", but no such broker is registered.";
        }
        if (index > 0 && sorted[index] == sorted[index - 1]) {
            return prefix + "the broker " + broker + " more than once.";
        }
    }
    if (expected_replicas && brokers.size() != *expected_replicas) {
        return prefix + "a partition with " + std::to_string(brokers.size()) +
               " replica(s), but this is not consistent with previous partitions, which have " +
               std::to_string(*expected_replicas) + " replica(s).";
    }
    return std::nullopt;
}

std::optional<std::string> dead_assignment_problem(std::span<const BrokerId> brokers, PartitionIndex partition,
                                                   std::span<const BrokerId> fenced) {
    const auto is_fenced = [&](BrokerId broker) { return std::ranges::find(fenced, broker) != fenced.end(); };
    if (!std::ranges::all_of(brokers, is_fenced)) {
        return std::nullopt;
    }
    return "All brokers specified in the manual partition assignment for partition " + std::to_string(partition.value) +
           " are fenced or in controlled shutdown.";
}

std::optional<CatalogError> config_value_problem(const ConfigMap& configs) {
    for (const auto& [name, value] : configs) {
        if (utf16_length(value) > kMaxConfigValueLength) {
            return CatalogError{ErrorCode::invalid_config,
                                "The configuration value cannot be added because it exceeds the maximum value size of " +
                                    std::to_string(kMaxConfigValueLength) + " bytes."};
        }
    }
    return std::nullopt;
}

}  // namespace partita::catalog
