#include "broker/groups/group_environment.h"

#include <memory>

namespace partita::groups {
namespace {

class EmptyCluster final : public ClusterView {
  public:
    std::optional<Topic> find(std::string_view) const override { return std::nullopt; }
    std::optional<Topic> find(const TopicId&) const override { return std::nullopt; }
    void for_each(FunctionRef<void(const Topic&)>) const override {}
    std::int64_t version() const override { return 0; }
    std::string_view rack() const override { return {}; }
    ConsumerGroupOverrides overrides(std::string_view) const override { return {}; }
    ShareGroupOverrides share_overrides(std::string_view) const override { return {}; }
};

}  // namespace

ClusterPointer no_cluster() { return std::make_shared<EmptyCluster>(); }

}  // namespace partita::groups
