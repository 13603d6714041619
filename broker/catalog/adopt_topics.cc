#include "broker/catalog/adopt_topics.h"

#include <memory>
#include <span>
#include <utility>

#include "broker/access/acl_index.h"
#include "broker/catalog/catalog_core.h"
#include "broker/catalog/change_builder.h"
#include "broker/catalog/delegation_tokens.h"
#include "broker/catalog/internal_topics.h"

namespace partita::catalog {
namespace {

CatalogError adoption_problem(const AdoptTopics::Topic& topic, const CatalogSnapshot& catalog) {
    if (const Topic* existing = catalog.find_topic(topic.name)) {
        return {ErrorCode::topic_already_exists, "there is another topic " + existing->name};
    }
    if (const Topic* colliding = catalog.find_colliding_topic(topic.name)) {
        return {ErrorCode::invalid_topic_exception, "the name collides with the topic " + colliding->name};
    }
    if (!topic.id.is_zero() && catalog.find_topic(topic.id) != nullptr) {
        return {ErrorCode::invalid_topic_exception, "another topic has its id"};
    }
    if (auto problem = topic_name_problem(topic.name)) {
        return {ErrorCode::invalid_topic_exception, std::move(problem)};
    }
    if (topic.name == kCatalogLogName) {
        return {ErrorCode::invalid_topic_exception, "the broker keeps its catalog under this name"};
    }
    if (topic.partition_count < 1) {
        return {ErrorCode::invalid_partitions, "it has no partitions"};
    }
    return {};
}

/// The configs that are valid here; the names of the others go to `left_out`.
ConfigMap valid_configs(const AdoptTopics::Topic& topic, const ConfigRules& rules, std::vector<std::string>& left_out) {
    const ConfigResource resource{ConfigResourceType::topic, topic.name};
    if (!config_value_problem(topic.configs) && !rules.validate(resource, topic.configs, {}).failed()) {
        return topic.configs;
    }
    ConfigMap valid;
    for (const auto& [name, value] : topic.configs) {
        ConfigMap with_it = valid;
        with_it.emplace(name, value);
        if (config_value_problem(with_it) || rules.validate(resource, with_it, {}).failed()) {
            left_out.push_back(name);
        } else {
            valid = std::move(with_it);
        }
    }
    return valid;
}

/// Returns the number of ACLs that found no room.
std::size_t adopt_acls(std::span<const access::Acl> acls, ChangeBuilder& change) {
    std::vector<access::AclPointer> added;
    std::size_t left_out = 0;
    for (const access::Acl& acl : acls) {
        if (change.draft().acls().contains(acl)) {
            continue;
        }
        if (change.draft().acls().size() + added.size() < access::AclIndex::kAclsMax) {
            added.push_back(std::make_shared<const access::Acl>(acl));
        } else {
            ++left_out;
        }
    }
    if (!added.empty()) {
        change.change_acls(added, {});
    }
    return left_out;
}

std::size_t adopt_tokens(std::span<const access::DelegationToken> tokens, ChangeBuilder& change) {
    std::size_t left_out = 0;
    for (const access::DelegationToken& token : tokens) {
        if (change.draft().find_delegation_token(token.id) != nullptr) {
            continue;
        }
        if (change.draft().delegation_tokens().size() < kDelegationTokensMax) {
            change.put_delegation_token(std::make_shared<const access::DelegationToken>(token));
        } else {
            ++left_out;
        }
    }
    return left_out;
}

}  // namespace

Decision<AdoptTopics> CatalogCore::decide(const AdoptTopics& command, const CatalogContext& context) const {
    ChangeBuilder change(snapshot_);
    AdoptTopicsResult answer;
    for (const AdoptTopics::Topic& topic : command.topics) {
        AdoptTopicsResult::Topic& result = answer.topics.emplace_back();
        result.name = topic.name;
        result.error = adoption_problem(topic, change.draft());
        if (result.error.failed()) {
            continue;
        }
        Topic adopted;
        adopted.name = topic.name;
        adopted.id = topic.id.is_zero() ? fresh_topic_id(context, change.draft()) : topic.id;
        adopted.partition_count = topic.partition_count;
        adopted.replication_factor = 1;
        adopted.internal = is_internal_topic(topic.name);
        adopted.created_time = context.now.wall;
        adopted.configs = valid_configs(topic, rules_, result.left_out_configs);
        change.create_topic(std::move(adopted));
    }
    for (const auto& [user, credentials] : command.scram_credentials) {
        if (user.empty() || snapshot_->all_scram_credentials().contains(user)) {
            continue;
        }
        change.set_configs(ConfigResourceType::scram_credential, user, credentials);
    }
    answer.left_out_acls = adopt_acls(command.acls, change);
    answer.left_out_tokens = adopt_tokens(command.delegation_tokens, change);
    if (command.next_producer_id > snapshot_->next_producer_id()) {
        change.set_next_producer_id(command.next_producer_id);
    }
    return {std::move(answer), change.finish()};
}

}  // namespace partita::catalog
