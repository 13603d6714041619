#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/catalog/catalog.h"
#include "broker/runtime/growth/expansion_judge.h"

namespace partita::logs {
class DrainedPositions;
}  // namespace partita::logs

namespace partita::insight {
struct LocalPlanSources;
}  // namespace partita::insight

namespace partita::runtime {

class GroupShards;

/// A topic that a request wants to grow, and that Kafka's rules let grow.
struct WantedGrowth {
    catalog::TopicPointer topic;
    std::int32_t new_count = 0;
};

/// For how many topics one pass over all groups gathers readers. This bounds the memory in use.
inline constexpr std::size_t kGrowthsPerPass = 32;

/// Gathers the facts that the modes and the record of an expansion need, for at most `kGrowthsPerPass` topics. `all` is
/// everything that the request wants to grow, ascending by name; `drained` has the budget for all of it.
///
/// Its time grows with the number of groups (one pass), and with the reports of groups that read the topics. It takes the locks
/// of group shards one by one. It reads the disk if transactions have ended behind the commits of groups. So neither a reactor
/// nor a holder of the catalog's lock may call it. While it reads, it holds no lock that other threads wait for.
[[nodiscard]] std::vector<GrowthFacts> gather_growth_facts(const insight::LocalPlanSources& sources,
                                                           std::span<const WantedGrowth> wanted,
                                                           std::span<const WantedGrowth> all, logs::DrainedPositions& drained,
                                                           Now now);

/// True if a group outside `known` (ascending) reads the topic.
[[nodiscard]] bool has_new_readers(GroupShards& groups, const catalog::Topic& topic, std::span<const std::string> known);

}  // namespace partita::runtime
