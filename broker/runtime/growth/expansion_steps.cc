#include "broker/runtime/growth/expansion_steps.h"

#include <algorithm>
#include <limits>

#include "broker/config/topic_config.h"
#include "protocol/assert.h"

namespace partita::runtime {
namespace {

using Kind = ExpansionStep::Kind;

}  // namespace

std::vector<ExpansionStep> steps_of(std::span<const GrowingTopic> topics) {
    std::vector<ExpansionStep> steps;
    const auto for_each_topic = [&](Kind kind, auto wanted) {
        for (std::size_t index = 0; index < topics.size(); ++index) {
            if (wanted(topics[index])) {
                steps.push_back({kind, index});
            }
        }
    };
    using config::ExpansionMode;
    const auto is_in_mode = [](const GrowingTopic& topic, ExpansionMode mode) {
        return topic.judged.circumstances && topic.judged.circumstances->mode == config::expansion_mode_name(mode);
    };
    const auto always = [](const GrowingTopic&) { return true; };
    const auto is_fenced = [&](const GrowingTopic& topic) { return is_in_mode(topic, ExpansionMode::fenced); };
    const auto gives_seeds = [&](const GrowingTopic& topic) { return !is_in_mode(topic, ExpansionMode::faithful); };
    const auto has_seeds = [](const GrowingTopic& topic) { return !topic.seeded_groups().empty(); };
    for_each_topic(Kind::seed, has_seeds);
    for_each_topic(Kind::sync_seeds, has_seeds);
    for_each_topic(Kind::look_for_new_readers, gives_seeds);
    steps.push_back({Kind::lock_catalog});
    steps.push_back({Kind::claim_partitions});
    steps.push_back({Kind::write_catalog});
    for_each_topic(Kind::open_fence, is_fenced);
    for_each_topic(Kind::watch_readers, always);
    steps.push_back({Kind::publish});
    steps.push_back({Kind::unlock_catalog});
    for_each_topic(Kind::tell, always);
    return steps;
}

StepOutcome carry_out(std::span<const ExpansionStep> steps, ExpansionActions& actions) {
    bool is_written = false;
    for (std::size_t taken = 0; taken < steps.size(); ++taken) {
        const StepOutcome outcome = actions.take(steps[taken]);
        if (outcome == StepOutcome::done) {
            is_written = is_written || steps[taken].kind == Kind::write_catalog;
            continue;
        }
        PARTITA_ASSERT(!is_written, "nothing fails once the topics have grown");
        for (std::size_t undone = taken + 1; undone-- > 0;) {
            actions.undo(steps[undone]);
        }
        return outcome;
    }
    return StepOutcome::done;
}

groups::SeedOffsets seeds_of(const GrowingTopic& topic) {
    return {.group_id = {},
            .topic = topic.before->name,
            .topic_id = topic.before->id,
            .first = PartitionIndex{topic.before->partition_count},
            .end = PartitionIndex{topic.new_count},
            .metadata = {}};
}

groups::SeedOffsets orphaned_seeds_of(const catalog::Topic& topic) {
    return {.group_id = {},
            .topic = topic.name,
            .topic_id = topic.id,
            .first = PartitionIndex{topic.partition_count},
            .end = PartitionIndex{std::numeric_limits<std::int32_t>::max()},
            .metadata = {}};
}

}  // namespace partita::runtime
