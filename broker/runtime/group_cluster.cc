#include "broker/runtime/group_cluster.h"

#include <charconv>

namespace partita::runtime {
namespace {

groups::ClusterView::Topic view_of(const topics::Topic& topic) {
    return {topic.id, topic.name, topic.partition_count};
}

std::optional<std::int32_t> number(const topics::ConfigMap& configs, std::string_view name) {
    const auto found = configs.find(name);
    if (found == configs.end()) {
        return std::nullopt;
    }
    std::int32_t value = 0;
    const char* end = found->second.data() + found->second.size();
    const auto [stop, error] = std::from_chars(found->second.data(), end, value);
    // What is not a number was refused when it was set.
    return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<groups::ClusterView::Topic> GroupCluster::find(std::string_view name) const {
    const topics::Topic* topic = catalog_->find_topic(name);
    return topic == nullptr ? std::nullopt : std::optional(view_of(*topic));
}

std::optional<groups::ClusterView::Topic> GroupCluster::find(const TopicId& topic_id) const {
    const topics::Topic* topic = catalog_->find_topic(topic_id);
    return topic == nullptr ? std::nullopt : std::optional(view_of(*topic));
}

void GroupCluster::for_each(const std::function<void(const Topic&)>& visit) const {
    for (const topics::Topic& topic : catalog_->topics()) {
        visit(view_of(topic));
    }
}

groups::ConsumerGroupOverrides GroupCluster::overrides(std::string_view group_id) const {
    const topics::ConfigMap& configs = catalog_->group_configs(group_id);
    if (configs.empty()) {
        return {};
    }
    return {.session_timeout_ms = number(configs, "consumer.session.timeout.ms"),
            .heartbeat_interval_ms = number(configs, "consumer.heartbeat.interval.ms"),
            .assignment_interval_ms = number(configs, "consumer.assignment.interval.ms")};
}

}  // namespace partita::runtime
