#include "broker/runtime/growth/refusals.h"

#include "broker/runtime/fences/topic_expansion.h"
#include "broker/runtime/growth/expansion_facts.h"

namespace partita::runtime {

std::vector<insight::Refusal> refusals(const PlanSources& sources, const TopicState& topic, std::int32_t new_count,
                                       DrainedPositions& drained, Now now) {
    const config::ExpansionMode mode = topic.config->expansion_mode;
    if (mode != config::ExpansionMode::faithful && topic.topic->internal) {
        return {{insight::HazardId::internal_topic, insight::internal_topic_refusal(topic.topic->name)}};
    }
    std::vector<insight::Refusal> found;
    if (mode == config::ExpansionMode::fenced) {
        const bool window_is_open = topic.expansion && topic.expansion->has_open_window();
        if (auto refusal = insight::fence_refusal(topic.topic->name, topic.topic->partition_count, new_count, window_is_open)) {
            found.push_back(
                {window_is_open ? insight::HazardId::stale_producer : insight::HazardId::keys_shuffle_among_old_partitions,
                 std::move(*refusal)});
        }
    }
    if (mode == config::ExpansionMode::guarded && !topic.config->expansion_guard_override) {
        const WantedGrowth alone{.topic = topic.topic, .new_count = new_count};
        for (const GrowthFacts& facts : gather_growth_facts(sources, {&alone, 1}, {&alone, 1}, drained, now)) {
            for (insight::Blocker& blocker : insight::find_blockers(facts.guard.value_or(insight::GuardFacts{}))) {
                found.push_back({blocker.id, std::move(blocker.reason), std::move(blocker.group)});
            }
        }
    }
    return found;
}

}  // namespace partita::runtime
