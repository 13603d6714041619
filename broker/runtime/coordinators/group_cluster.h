#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "broker/catalog/catalog.h"
#include "broker/config/current_config.h"
#include "broker/groups/cluster_view.h"
#include "broker/logs/topics_listener.h"
#include "protocol/function_ref.h"

namespace partita::runtime {

/// The catalog as consumer groups see it.
class GroupCluster final : public groups::ClusterView {
  public:
    /// Topics with partitions that consumers do not see until a user releases them (partita.visibility.consumers.delay.ms of -1),
    /// with the number of partitions they see. Groups do not assign hidden partitions either. A delay that ends by itself hides
    /// partitions from metadata alone.
    using VisibleCounts = std::map<TopicId, std::int32_t>;

    /// `rack`: the rack of this broker, which has all replicas; empty if it has none.
    GroupCluster(catalog::CatalogPointer catalog, std::string rack, VisibleCounts visible)
        : catalog_(std::move(catalog)), rack_(std::move(rack)), visible_(std::move(visible)) {}

    [[nodiscard]] std::optional<Topic> find(std::string_view name) const override;
    [[nodiscard]] std::optional<Topic> find(const TopicId& topic_id) const override;
    void for_each(FunctionRef<void(const Topic&)> visit) const override;
    [[nodiscard]] std::int64_t version() const override { return catalog_->sequence(); }
    [[nodiscard]] std::string_view rack() const override { return rack_; }
    [[nodiscard]] groups::ConsumerGroupOverrides overrides(std::string_view group_id) const override;
    [[nodiscard]] groups::ShareGroupOverrides share_overrides(std::string_view group_id) const override;

  private:
    [[nodiscard]] std::optional<Topic> view_of(const catalog::Topic* topic) const;

    catalog::CatalogPointer catalog_;
    std::string rack_;
    VisibleCounts visible_;
};

class GroupShards;

/// How many partitions consumers see, for topics whose newest partitions stay hidden until released.
[[nodiscard]] GroupCluster::VisibleCounts hidden_from_consumers(const logs::TopicTable& table);

/// Tells the group coordinators about changed topics and settings.
class GroupUpdates final : public logs::TopicsListener {
  public:
    GroupUpdates(GroupShards& groups, const config::CurrentConfig& config) : groups_(groups), config_(config) {}

    /// Called at the start, before groups are loaded.
    void begin(const logs::TopicTable& table);
    void on_topics_changed(const logs::TopicsChange& change) override;

  private:
    void tell(const logs::TopicTable& table, bool has_new_topics);

    GroupShards& groups_;
    const config::CurrentConfig& config_;
};

}  // namespace partita::runtime
