#pragma once

#include <memory>
#include <string>

#include "broker/groups/cluster_view.h"
#include "broker/topics/catalog.h"

namespace partita::runtime {

/// The catalog as consumer groups see it.
class GroupCluster final : public groups::ClusterView {
  public:
    /// `rack`: of this broker, which has all replicas; empty when it has none.
    GroupCluster(topics::CatalogPointer catalog, std::string rack) : catalog_(std::move(catalog)), rack_(std::move(rack)) {}

    [[nodiscard]] std::optional<Topic> find(std::string_view name) const override;
    [[nodiscard]] std::optional<Topic> find(const TopicId& topic_id) const override;
    void for_each(const std::function<void(const Topic&)>& visit) const override;
    [[nodiscard]] std::int64_t version() const override { return catalog_->sequence(); }
    [[nodiscard]] std::string_view rack() const override { return rack_; }
    [[nodiscard]] groups::ConsumerGroupOverrides overrides(std::string_view group_id) const override;

  private:
    topics::CatalogPointer catalog_;
    std::string rack_;
};

}  // namespace partita::runtime
