#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/config/topic_config.h"
#include "broker/expansion/guard.h"
#include "broker/expansion/plan.h"
#include "broker/topics/catalog_commands.h"

/// How the modes judge an expansion that Kafka's rules allow. Pure: facts come in, a verdict comes out. The guard's rules and
/// texts are in broker/expansion/guard.h.
namespace partita::runtime {

/// What was gathered about one topic that a request wants to grow.
struct GrowthFacts {
    /// As it was then.
    topics::TopicPointer topic;
    std::int32_t new_count = 0;
    config::ExpansionMode mode = config::ExpansionMode::faithful;
    /// partita.expansion.guard.override
    bool is_guard_overridden = false;
    /// False while a coordinator is rebuilt: groups may be missing.
    bool are_groups_known = true;
    /// Mode fenced: producers may not all know of the growth before this one.
    bool window_is_open = false;
    expansion::PlannedTopic planned;
    /// Mode guarded.
    std::optional<expansion::GuardFacts> guard;
};

struct GrowthVerdict {
    topics::JudgedExpansion judged;
    /// The refusal stands unless the same request is a confirmation of an earlier one; then `confirm`.
    bool may_be_confirmed = false;
};

[[nodiscard]] GrowthVerdict judge_growth(const GrowthFacts& facts, topics::RequestOrigin requested_by);
/// The client asked a second time.
void confirm(GrowthVerdict& verdict);

/// Pairs of groups and other topics whose partitions their members hold one for one with the topic's.
using AlignedJoins = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] AlignedJoins aligned_joins(const GrowthFacts& facts);

}  // namespace partita::runtime
