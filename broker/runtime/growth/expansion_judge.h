#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/catalog/commands.h"
#include "broker/config/topic_config.h"
#include "broker/insight/plan/guard.h"
#include "broker/insight/plan/plan.h"

/// The judgement of the expansion modes on an expansion that Kafka's rules allow. Pure functions: facts come in, a verdict comes
/// out. The guard's rules and texts are in broker/insight/plan/guard.h.
namespace partita::runtime {

/// The facts about one topic that a request wants to grow.
struct GrowthFacts {
    /// The topic as it was when the facts were gathered.
    catalog::TopicPointer topic;
    std::int32_t new_count = 0;
    config::ExpansionMode mode = config::ExpansionMode::faithful;
    /// partita.expansion.guard.override
    bool is_guard_overridden = false;
    /// False while a coordinator is being rebuilt, because groups may be missing then.
    bool are_groups_known = true;
    /// Mode fenced: some producers may not know of the previous growth yet.
    bool window_is_open = false;
    insight::PlannedTopic planned;
    /// Set in mode guarded.
    std::optional<insight::GuardFacts> guard;
};

struct GrowthVerdict {
    catalog::JudgedExpansion judged;
    /// True if the client may confirm by sending the refused request again; the caller then calls `confirm`.
    bool may_be_confirmed = false;
};

[[nodiscard]] GrowthVerdict judge_growth(const GrowthFacts& facts, catalog::RequestOrigin requested_by);
/// Turns a refusal into a permission after the client has confirmed it by a second request.
void confirm(GrowthVerdict& verdict);

/// Pairs of a group and another topic. The group's members hold the same partitions of that topic as of the growing topic.
using AlignedJoins = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] AlignedJoins aligned_joins(const GrowthFacts& facts);

}  // namespace partita::runtime
