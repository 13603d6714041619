#include "broker/runtime/coordinators/group_cluster.h"

#include <charconv>

#include "broker/catalog/commands.h"
#include "broker/logs/topic_table.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/settings/group_settings.h"

namespace partita::runtime {
namespace {

std::optional<std::int32_t> number(const catalog::ConfigMap& configs, std::string_view name) {
    const auto found = configs.find(name);
    if (found == configs.end()) {
        return std::nullopt;
    }
    std::int32_t value = 0;
    const char* end = found->second.data() + found->second.size();
    const auto [stop, error] = std::from_chars(found->second.data(), end, value);
    // Setting the config already refused values that are not numbers.
    return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<groups::ClusterView::Topic> GroupCluster::view_of(const catalog::Topic* topic) const {
    if (topic == nullptr) {
        return std::nullopt;
    }
    const auto visible = visible_.find(topic->id);
    return Topic{topic->id, topic->name, visible == visible_.end() ? topic->partition_count : visible->second};
}

std::optional<groups::ClusterView::Topic> GroupCluster::find(std::string_view name) const {
    return view_of(catalog_->find_topic(name));
}

std::optional<groups::ClusterView::Topic> GroupCluster::find(const TopicId& topic_id) const {
    return view_of(catalog_->find_topic(topic_id));
}

void GroupCluster::for_each(FunctionRef<void(const Topic&)> visit) const {
    for (const catalog::Topic& topic : catalog_->topics()) {
        visit(*view_of(&topic));
    }
}

groups::ConsumerGroupOverrides GroupCluster::overrides(std::string_view group_id) const {
    const catalog::ConfigMap& configs = catalog_->group_configs(group_id);
    if (configs.empty()) {
        return {};
    }
    return {.session_timeout_ms = number(configs, "consumer.session.timeout.ms"),
            .heartbeat_interval_ms = number(configs, "consumer.heartbeat.interval.ms"),
            .assignment_interval_ms = number(configs, "consumer.assignment.interval.ms")};
}

groups::ShareGroupOverrides GroupCluster::share_overrides(std::string_view group_id) const {
    const catalog::ConfigMap& configs = catalog_->group_configs(group_id);
    if (configs.empty()) {
        return {};
    }
    return {.session_timeout_ms = number(configs, "share.session.timeout.ms"),
            .heartbeat_interval_ms = number(configs, "share.heartbeat.interval.ms"),
            .assignment_interval_ms = number(configs, "share.assignment.interval.ms")};
}

GroupCluster::VisibleCounts hidden_from_consumers(const logs::TopicTable& table) {
    GroupCluster::VisibleCounts visible;
    table.for_each([&](const logs::TopicState& state) {
        if (state.config->visibility_consumers_delay_ms == config::kUntilReleased && !state.topic->expansions.empty()) {
            visible.emplace(state.topic->id, state.topic->expansions.front()->old_partition_count);
        }
    });
    return visible;
}

void GroupUpdates::begin(const logs::TopicTable& table) {
    groups_.reconfigure(group_settings(*config_.get()));
    tell(table, true);
}

void GroupUpdates::on_topics_changed(const logs::TopicsChange& change) {
    // The broker keeps more about a topic than the catalog does. Groups do not see that part.
    if (change.now.catalog == change.before.catalog) {
        return;
    }
    using Kind = catalog::CatalogChange::Kind;
    bool has_new_topics = false;
    bool has_new_settings = false;
    for (const catalog::CatalogChange& one : change.changes) {
        has_new_topics |= one.kind == Kind::topic_created;
        has_new_settings |= one.kind == Kind::configs_changed && one.resource_type == catalog::ConfigResourceType::broker;
    }
    if (has_new_settings) {
        groups_.reconfigure(group_settings(*config_.get()));
    }
    tell(change.now, has_new_topics);
}

void GroupUpdates::tell(const logs::TopicTable& table, bool has_new_topics) {
    groups_.cluster_changed(
        std::make_shared<GroupCluster>(table.catalog, config_->broker_rack.value_or(""), hidden_from_consumers(table)),
        has_new_topics);
}

}  // namespace partita::runtime
