#include "broker/runtime/growth/refusals.h"

#include "broker/runtime/fences/topic_expansion.h"
#include "broker/runtime/growth/expansion_facts.h"

namespace partita::runtime {

std::vector<insight::Blocker> refusals(const insight::LocalPlanSources& sources, const logs::TopicState& topic,
                                       std::int32_t new_count, logs::DrainedPositions& drained, Now now) {
    const config::ExpansionMode mode = topic.config->expansion_mode;
    if (mode != config::ExpansionMode::faithful && topic.topic->internal) {
        return {insight::internal_topic_blocker(topic.topic->name)};
    }
    std::vector<insight::Blocker> found;
    if (mode == config::ExpansionMode::fenced) {
        const bool window_is_open = topic.expansion && topic.expansion->has_open_window();
        if (auto blocker = insight::fence_blocker(topic.topic->name, topic.topic->partition_count, new_count, window_is_open)) {
            found.push_back(*std::move(blocker));
        }
    }
    if (mode == config::ExpansionMode::guarded && !topic.config->expansion_guard_override) {
        const WantedGrowth alone{.topic = topic.topic, .new_count = new_count};
        for (const GrowthFacts& facts : gather_growth_facts(sources, {&alone, 1}, {&alone, 1}, drained, now)) {
            for (insight::Blocker& blocker : insight::find_blockers(facts.guard.value_or(insight::GuardFacts{}))) {
                found.push_back(std::move(blocker));
            }
        }
    }
    return found;
}

}  // namespace partita::runtime
