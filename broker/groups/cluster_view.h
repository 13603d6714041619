#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/function_ref.h"
#include "protocol/types.h"

namespace partita::groups {

/// Overrides of one group by `consumer.*` configs of its GROUP resource; each replaces the broker's setting.
struct ConsumerGroupOverrides {
    std::optional<std::int32_t> session_timeout_ms;
    std::optional<std::int32_t> heartbeat_interval_ms;
    std::optional<std::int32_t> assignment_interval_ms;
};

/// The same for `share.*` configs, as far as the group coordinator uses them.
struct ShareGroupOverrides {
    std::optional<std::int32_t> session_timeout_ms;
    std::optional<std::int32_t> heartbeat_interval_ms;
    std::optional<std::int32_t> assignment_interval_ms;
};

/// A snapshot of the cluster for consumer and share groups: topics, and configs of groups. Immutable.
class ClusterView {
  public:
    struct Topic {
        TopicId topic_id;
        /// Valid as long as the view.
        std::string_view name;
        std::int32_t partition_count = 0;
    };

    virtual ~ClusterView() = default;
    [[nodiscard]] virtual std::optional<Topic> find(std::string_view name) const = 0;
    [[nodiscard]] virtual std::optional<Topic> find(const TopicId& topic_id) const = 0;
    /// Calls `visit` for every topic, ascending by name.
    virtual void for_each(FunctionRef<void(const Topic&)> visit) const = 0;
    /// Grows with every change of the cluster's metadata.
    [[nodiscard]] virtual std::int64_t version() const = 0;
    /// The rack of all replicas (`broker.rack`); empty if unknown.
    [[nodiscard]] virtual std::string_view rack() const = 0;
    [[nodiscard]] virtual ConsumerGroupOverrides overrides(std::string_view group_id) const = 0;
    [[nodiscard]] virtual ShareGroupOverrides share_overrides(std::string_view group_id) const = 0;
};

using ClusterPointer = std::shared_ptr<const ClusterView>;

/// A selection of topics. During one command it is a pure function of the name.
class TopicFilter {
  public:
    virtual ~TopicFilter() = default;
    [[nodiscard]] virtual bool has(std::string_view topic) const = 0;
};

}  // namespace partita::groups
