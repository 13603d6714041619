#include "broker/runtime/fences/fence_wakes.h"

#include <memory>

#include "broker/catalog/catalog_core.h"
#include "broker/logs/published_topics.h"
#include "broker/logs/turns.h"

namespace partita::runtime {

void FenceWakes::on_topics_changed(const logs::TopicsChange& change) {
    for (const catalog::CatalogChange& one : change.changes) {
        if (one.kind != catalog::CatalogChange::Kind::topic_reconfigured) {
            continue;
        }
        const logs::TopicState* state = change.now.find(one.after->id);
        if (state->config->nudge != change.before.find(one.after->id)->config->nudge && state->expansion) {
            nudge(*state, change.time);
        }
    }
}

void FenceWakes::on_markers(const logs::TopicState& topic, PartitionIndex partition) {
    if (fences_.count() == 0 || !topic.expansion) {
        return;
    }
    // Use the catalog's expansions instead of the fence: its lock must be taken before the locks that the thread that writes
    // markers holds. Each partition of the fence came from one of these expansions.
    for (const auto& expansion : topic.topic->expansions) {
        const std::int32_t step = expansion->old_partition_count;
        for (std::int32_t child = partition.value + step; partition.value < step && child < expansion->new_partition_count;
             child += step) {
            turns_.post_change(*topic.partition(child));
        }
    }
}

void FenceWakes::identities_changed() {
    if (fences_.count() == 0) {
        return;
    }
    const std::shared_ptr<const logs::TopicTable> table = topics_.table();
    table->for_each([&](const logs::TopicState& topic) {
        if (topic.expansion) {
            wake_held(topic);
        }
    });
}

void FenceWakes::nudge(const logs::TopicState& topic, Now now) {
    topic.expansion->nudge(now.monotonic);
    // Waiting fetches see it at once.
    wake_held(topic);
}

void FenceWakes::wake_held(std::string_view topic) {
    const std::shared_ptr<const logs::TopicTable> table = topics_.table();
    const logs::TopicState* state = table->find(topic);
    if (state != nullptr && state->expansion) {
        wake_held(*state);
    }
}

void FenceWakes::wake_held(const logs::TopicState& topic) {
    for (const std::shared_ptr<logs::Partition>& partition : topic.partitions) {
        turns_.post_change(*partition);
    }
}

}  // namespace partita::runtime
