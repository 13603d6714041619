#include "broker/catalog/catalog_image.h"

#include <memory>
#include <unordered_set>
#include <vector>

#include "broker/catalog/client_quotas.h"
#include "broker/catalog/snapshot_editor.h"
#include "protocol/try.h"

namespace partita::catalog {
namespace {

std::unexpected<CatalogReplayError> corrupt_image(std::string message) {
    return std::unexpected(CatalogReplayError{CatalogReplayError::Kind::corrupt, std::move(message)});
}

/// Stores a decoded value, or passes the error on.
template <class Value, class Store>
std::expected<void, CatalogReplayError> keep(std::expected<Value, CatalogReplayError> decoded, Store store) {
    PARTITA_TRY(decoded);
    store(std::move(*decoded));
    return {};
}

}  // namespace

std::expected<void, CatalogReplayError> CatalogImage::replay(Bytes key_bytes, std::optional<Bytes> value) {
    PARTITA_TRY_ASSIGN(const auto key, decode_key(key_bytes));
    if (const auto* topic = std::get_if<TopicKey>(&key)) {
        if (!value) {
            topics_.erase(topic->id);
            return {};
        }
        return keep(decode_topic(*topic, *value),
                    [&](Topic decoded) { topics_.insert_or_assign(topic->id, std::move(decoded)); });
    }
    if (const auto* expansion = std::get_if<ExpansionKey>(&key)) {
        if (!value) {
            if (const auto found = expansions_.find(expansion->id); found != expansions_.end()) {
                found->second.erase(expansion->epoch);
                if (found->second.empty()) {
                    expansions_.erase(found);
                }
            }
            return {};
        }
        return keep(decode_expansion(*expansion, *value), [&](ExpansionEpoch decoded) {
            expansions_[expansion->id].insert_or_assign(expansion->epoch, std::move(decoded));
        });
    }
    if (const auto* configs = std::get_if<ConfigsKey>(&key)) {
        if (configs->type == ConfigResourceType::client_quota && !is_quota_entity(configs->name)) {
            return corrupt_image("quotas are stored for an invalid entity");
        }
        CatalogSnapshot::ConfigsByName& resources = configs_[configs->type];
        if (!value) {
            if (const auto found = resources.find(configs->name); found != resources.end()) {
                resources.erase(found);
            }
            return {};
        }
        return keep(decode_configs(*value),
                    [&](ConfigMap decoded) { resources.insert_or_assign(std::string(configs->name), std::move(decoded)); });
    }
    if (const auto* producer = std::get_if<ProducerSwitchKey>(&key)) {
        ProducerSwitches& switches = producer_switches_[producer->id];
        const std::tuple identity{producer->epoch, std::string(producer->client_id), std::string(producer->address)};
        if (!value) {
            switches.erase(identity);
            if (switches.empty()) {
                producer_switches_.erase(producer->id);
            }
            return {};
        }
        return keep(decode_producer_switch(*producer, *value),
                    [&](ProducerSwitch decoded) { switches.insert_or_assign(identity, std::move(decoded)); });
    }
    if (const auto* of_acl = std::get_if<AclKey>(&key)) {
        if (!value) {
            acls_.erase(of_acl->acl);
            return {};
        }
        PARTITA_TRY(check_acl(*value));
        acls_.insert(of_acl->acl);
        return {};
    }
    if (const auto* token = std::get_if<DelegationTokenKey>(&key)) {
        if (!value) {
            if (const auto found = delegation_tokens_.find(token->id); found != delegation_tokens_.end()) {
                delegation_tokens_.erase(found);
            }
            return {};
        }
        return keep(decode_delegation_token(*token, *value), [&](access::DelegationToken decoded) {
            delegation_tokens_.insert_or_assign(std::string(token->id), std::move(decoded));
        });
    }
    if (!value) {
        return corrupt_image("the catalog's state and identity are never removed");
    }
    if (std::holds_alternative<StateKey>(key)) {
        return keep(decode_state(*value), [&](CatalogState decoded) { state_ = decoded; });
    }
    return keep(decode_identity(*value), [&](CatalogIdentity decoded) { identity_ = std::move(decoded); });
}

std::expected<void, CatalogReplayError> CatalogImage::check_expansions(const Topic& topic, const Expansions& expansions) const {
    std::int32_t expected_epoch = 1;
    std::int32_t count = expansions.begin()->second.old_partition_count;
    for (const auto& [epoch, expansion] : expansions) {
        if (epoch != expected_epoch) {
            return corrupt_image("expansion " + std::to_string(expected_epoch) + " of topic " + topic.name + " is missing");
        }
        if (!may_follow(count, expansion)) {
            return corrupt_image("expansion " + std::to_string(epoch) + " of topic " + topic.name +
                                 " does not follow the one before");
        }
        count = expansion.new_partition_count;
        ++expected_epoch;
    }
    if (count != topic.partition_count) {
        return corrupt_image("topic " + topic.name + " has " + std::to_string(topic.partition_count) +
                             " partitions, its expansions lead to " + std::to_string(count));
    }
    return {};
}

std::expected<void, CatalogReplayError> CatalogImage::place_switches(const Topic& topic, Expansions& expansions) {
    const auto found = producer_switches_.find(topic.id);
    if (found == producer_switches_.end()) {
        return {};
    }
    for (auto& [identity, producer] : found->second) {
        const auto expansion = expansions.find(std::get<std::int32_t>(identity));
        if (expansion == expansions.end()) {
            return corrupt_image("a producer switch of topic " + topic.name + " names expansion " +
                                 std::to_string(std::get<std::int32_t>(identity)) + ", which does not exist");
        }
        expansion->second.producer_switches.push_back(std::move(producer));
    }
    producer_switches_.erase(found);
    return {};
}

std::expected<CatalogPointer, CatalogReplayError> CatalogImage::finish() {
    std::vector<TopicPointer> topics;
    topics.reserve(topics_.size());
    std::unordered_set<std::string_view> names;
    for (auto& [id, topic] : topics_) {
        if (const auto found = expansions_.find(id); found != expansions_.end()) {
            PARTITA_TRY(check_expansions(topic, found->second));
            PARTITA_TRY(place_switches(topic, found->second));
            for (auto& [epoch, expansion] : found->second) {
                topic.expansions.push_back(std::make_shared<const ExpansionEpoch>(std::move(expansion)));
            }
            expansions_.erase(found);
        }
        topics.push_back(std::make_shared<const Topic>(std::move(topic)));
        if (!names.insert(topics.back()->name).second) {
            return corrupt_image("two topics have the name " + topics.back()->name);
        }
    }
    if (!expansions_.empty()) {
        return corrupt_image("there are expansions of a topic with id " + expansions_.begin()->first.to_string() +
                             ", which does not exist");
    }
    if (!producer_switches_.empty()) {
        return corrupt_image("there are producer switches of a topic with id " + producer_switches_.begin()->first.to_string() +
                             ", which does not exist or never grew");
    }

    SnapshotEditor editor{CatalogSnapshot()};
    editor.add_topics(std::move(topics));
    for (auto& [type, configs] : configs_) {
        editor.set_all_configs(type, std::move(configs));
    }
    if (!acls_.empty()) {
        std::vector<access::AclPointer> acls;
        acls.reserve(acls_.size());
        for (const access::Acl& acl : acls_) {
            acls.push_back(std::make_shared<const access::Acl>(acl));
        }
        editor.set_acls(std::move(acls));
    }
    CatalogSnapshot::DelegationTokens tokens;
    tokens.reserve(delegation_tokens_.size());
    for (auto& [id, token] : delegation_tokens_) {
        tokens.push_back(std::make_shared<const access::DelegationToken>(std::move(token)));
    }
    if (!tokens.empty()) {
        editor.set_delegation_tokens(std::move(tokens));
    }
    editor.set_identity(std::move(identity_.cluster_id), std::move(identity_.features));
    editor.set_next_producer_id(state_.next_producer_id);
    editor.set_sequence(state_.sequence);
    return editor.finish();
}

}  // namespace partita::catalog
