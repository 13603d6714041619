#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "broker/client/cluster.h"
#include "broker/client/partitions.h"

namespace partita::tools {

/// Tells a person, after a topic grew, what is in danger now: two lines for each topic. It asks a cluster by Kafka's protocol, so
/// it serves any cluster.
class GrowthNotice {
  public:
    /// Most groups whose offsets it asks for.
    static constexpr std::size_t kGroupsMax = 200;

    /// Notes where the topics' logs end before they grow.
    [[nodiscard]] static client::Result<GrowthNotice> begin(client::Cluster& cluster, const std::vector<std::string>& topics);
    /// The lines about the growth to `new_count`.
    [[nodiscard]] client::Result<std::vector<std::string>> lines(client::Cluster& cluster, std::int32_t new_count) const;

  private:
    std::map<std::string, std::map<client::TopicPartition, std::int64_t>> ends_;
};

}  // namespace partita::tools
