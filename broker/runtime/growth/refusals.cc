#include "broker/runtime/growth/refusals.h"

#include "broker/runtime/fences/topic_expansion.h"
#include "broker/runtime/growth/expansion_facts.h"

namespace partita::runtime {

std::vector<expansion::Refusal> refusals(const PlanSources& sources, const TopicState& topic, std::int32_t new_count,
                                         DrainedPositions& drained, Now now) {
    const config::ExpansionMode mode = topic.config->expansion_mode;
    if (mode != config::ExpansionMode::faithful && topic.topic->internal) {
        return {{expansion::HazardId::internal_topic, expansion::internal_topic_refusal(topic.topic->name)}};
    }
    std::vector<expansion::Refusal> found;
    if (mode == config::ExpansionMode::fenced) {
        const bool window_is_open = topic.expansion && topic.expansion->has_open_window();
        if (auto refusal = expansion::fence_refusal(topic.topic->name, topic.topic->partition_count, new_count, window_is_open)) {
            found.push_back(
                {window_is_open ? expansion::HazardId::stale_producer : expansion::HazardId::keys_shuffle_among_old_partitions,
                 std::move(*refusal)});
        }
    }
    if (mode == config::ExpansionMode::guarded && !topic.config->expansion_guard_override) {
        const WantedGrowth alone{.topic = topic.topic, .new_count = new_count};
        for (const GrowthFacts& facts : gather_growth_facts(sources, {&alone, 1}, {&alone, 1}, drained, now)) {
            for (expansion::Blocker& blocker : expansion::find_blockers(facts.guard.value_or(expansion::GuardFacts{}))) {
                found.push_back({blocker.id, std::move(blocker.reason), std::move(blocker.group)});
            }
        }
    }
    return found;
}

}  // namespace partita::runtime
