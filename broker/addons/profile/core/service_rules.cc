#include "broker/addons/profile/core/service_rules.h"

#include <string_view>
#include <utility>

namespace partita::profile {
namespace {

/// True for permissions on the cluster that Kafka accepts in place of those on any topic.
bool stands_for_topics(access::Permission permission) {
    return permission == access::kCreateInCluster || permission == access::kClusterAction ||
           permission == access::Permission{access::Operation::erase, access::ResourceType::cluster};
}

/// The right that a key must have. Null if any key is enough: a client with a key sees everything.
std::optional<access::KeyRight> right_for(access::Permission permission) {
    using access::KeyRight;
    using access::Operation;
    using access::ResourceType;
    switch (permission.operation) {
        case Operation::read:
            return KeyRight::listen;
        case Operation::write:
        case Operation::idempotent_write:
        case Operation::two_phase_commit:
            return KeyRight::send;
        case Operation::describe:
            // Groups belong to readers, transactions to senders.
            return permission.resource == ResourceType::group              ? std::optional(KeyRight::listen)
                   : permission.resource == ResourceType::transactional_id ? std::optional(KeyRight::send)
                                                                           : std::nullopt;
        case Operation::describe_configs:
            return std::nullopt;
        case Operation::all:
        case Operation::create:
        case Operation::erase:
        case Operation::alter:
        case Operation::cluster_action:
        case Operation::alter_configs:
        case Operation::create_tokens:
        case Operation::describe_tokens:
            break;
    }
    return KeyRight::manage;
}

std::string_view name_of(access::KeyRight right) {
    return right == access::KeyRight::send ? "send" : right == access::KeyRight::listen ? "listen" : "manage";
}

}  // namespace

std::optional<std::string> ServiceRules::objection_to(const access::Requester& requester, access::Permission permission,
                                                      std::optional<std::string_view> name) const {
    const bool is_of_topic = permission.resource == access::ResourceType::topic;
    const bool is_about_topics = is_of_topic || stands_for_topics(permission);
    if (is_about_topics && !profile_.has_kafka_endpoint()) {
        return profile_.offer() + " has no Kafka endpoint";
    }
    const std::optional<access::KeyGrant>& grant = requester.principal.grant();
    if (!grant) {
        return std::nullopt;
    }
    if (const auto right = right_for(permission); right && !grant->rights.has(*right)) {
        return "the key of the connection string has no right to " + std::string(name_of(*right));
    }
    if (!is_about_topics || !grant->only_topic) {
        return std::nullopt;
    }
    const bool may_be_meant = is_of_topic && (!name || *name == *grant->only_topic);
    if (!may_be_meant) {
        return "the connection string is for the topic " + *grant->only_topic;
    }
    return std::nullopt;
}

bool ServiceRules::allows(const access::Requester& requester, access::Permission permission,
                          std::optional<std::string_view> name) const {
    if (objection_to(requester, permission, name)) {
        return false;
    }
    return requester.principal.grant() || others_ == nullptr || others_->allows(requester, permission, name);
}

std::string ServiceRules::reason(const access::Requester& requester, access::Permission permission,
                                 std::optional<std::string_view> name) const {
    if (auto objection = objection_to(requester, permission, name)) {
        return std::move(*objection);
    }
    if (requester.principal.grant()) {
        return "the key of the connection string";
    }
    return others_ == nullptr ? std::string() : others_->reason(requester, permission, name);
}

}  // namespace partita::profile
