#include "broker/profile/service_rules.h"

#include <utility>

namespace partita::profile {
namespace {

/// On the cluster, where Kafka lets that be enough for any topic.
bool stands_for_topics(access::Permission permission) {
    return permission == access::kCreateInCluster || permission == access::kClusterAction ||
           permission == access::Permission{access::Operation::erase, access::ResourceType::cluster};
}

}  // namespace

std::optional<std::string> ServiceRules::objection_to(const access::Requester& requester, access::Permission permission,
                                                      std::optional<std::string_view> name) const {
    const bool is_of_topic = permission.resource == access::ResourceType::topic;
    if (!is_of_topic && !stands_for_topics(permission)) return std::nullopt;
    if (!profile_.has_kafka_endpoint()) return profile_.offer() + " has no Kafka endpoint";
    const std::optional<access::KeyGrant>& grant = requester.principal.grant();
    if (!grant || !grant->only_topic) return std::nullopt;
    const bool may_be_meant = is_of_topic && (!name || *name == *grant->only_topic);
    if (!may_be_meant) return "the connection string is for the topic " + *grant->only_topic;
    return std::nullopt;
}

bool ServiceRules::allows(const access::Requester& requester, access::Permission permission,
                          std::optional<std::string_view> name) const {
    if (objection_to(requester, permission, name)) return false;
    return requester.principal.grant() || others_ == nullptr || others_->allows(requester, permission, name);
}

std::string ServiceRules::reason(const access::Requester& requester, access::Permission permission,
                                 std::optional<std::string_view> name) const {
    if (auto objection = objection_to(requester, permission, name)) return std::move(*objection);
    if (requester.principal.grant()) return "the key of the connection string";
    return others_ == nullptr ? std::string() : others_->reason(requester, permission, name);
}

}  // namespace partita::profile
