#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/runtime/growth/expansion_judge.h"
#include "broker/topics/catalog.h"

namespace partita::runtime {

class GroupShards;
struct PlanSources;

/// A topic that a request wants to grow, and Kafka's rules allow.
struct WantedGrowth {
    topics::TopicPointer topic;
    std::int32_t new_count = 0;
};

/// Topics whose groups are gathered by one pass over all groups: bounds what is in memory at once.
inline constexpr std::size_t kGrowthsPerPass = 32;

/// Gathers what the modes and the record of the expansions need to know, for at most `kGrowthsPerPass` topics. Takes time with
/// the groups, once, and with what those of them say that read the topics. Takes the locks of groups one by one, reads logs
/// (mode guarded: from the disk, if need be), and holds no lock that others wait for meanwhile: not for a reactor, and not
/// with the catalog's lock. `all`: everything that the request wants to grow,
/// ascending by name.
[[nodiscard]] std::vector<GrowthFacts> gather_growth_facts(const PlanSources& sources, std::span<const WantedGrowth> wanted,
                                                           std::span<const WantedGrowth> all, Now now);

/// Groups that read the topic and are not in the list, which is ascending.
[[nodiscard]] bool has_new_readers(GroupShards& groups, const topics::Topic& topic, std::span<const std::string> known);

}  // namespace partita::runtime
