#include "broker/runtime/growth/expansions.h"

#include <algorithm>

#include "broker/config/log_setup.h"
#include "broker/logs/published_topics.h"
#include "broker/logs/turn.h"
#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/fences/fences.h"
#include "broker/runtime/loop/fail_stop.h"

namespace partita::runtime {
namespace {

groups::SeedOffsets seeds_of(const catalog::Topic& topic, const catalog::ExpansionEpoch& expansion, const std::string& metadata) {
    return {.group_id = {},
            .topic = topic.name,
            .topic_id = topic.id,
            .first = PartitionIndex{expansion.old_partition_count},
            .end = PartitionIndex{expansion.new_partition_count},
            .metadata = metadata};
}

}  // namespace

// Start ----------------------------------------------------------------------------------------------

void Expansions::recover(bool was_clean, Now now) {
    if (was_clean) {
        return;
    }
    remove_orphaned_seeds(now);
    const std::shared_ptr<const logs::TopicTable> table = facts_.cluster.parts().topics.table();
    table->for_each([&](const logs::TopicState& state) {
        if (state.topic->expansions.empty() || !state.topic->expansions.back()->circumstances) {
            return;
        }
        const catalog::ExpansionEpoch& expansion = *state.topic->expansions.back();
        const std::int64_t age_ms = now.wall.value - expansion.time.value;
        if (!state.expansion) {
            return;
        }
        const bool was_fenced = expansion.circumstances->mode == config::expansion_mode_name(config::ExpansionMode::fenced);
        if (was_fenced && !state.expansion->status().has_fence && age_ms < state.config->expansion_window_ms) {
            fences_.open(state, now);
        }
        state.expansion->cover_unknown_batches(state);
        // Before any client writes.
        if (const auto fence = state.expansion->encoded_fence()) {
            // If the fence cannot be stored, `store` logs that and the upkeep tries again.
            (void)fences_.store(*state.topic, *fence, true);
        }
    });
}

void Expansions::remove_orphaned_seeds(Now now) {
    const std::shared_ptr<const logs::TopicTable> table = facts_.cluster.parts().topics.table();
    table->for_each([&](const logs::TopicState& state) {
        if (state.config->expansion_mode == config::ExpansionMode::faithful) {
            return;
        }
        const catalog::Topic& topic = *state.topic;
        std::vector<std::string> group_ids;
        for (const groups::TopicReader& reader : facts_.cluster.parts().groups.readers_of(topic.name, topic.id)) {
            if (!reader.committed.empty() && reader.committed.rbegin()->first.value >= topic.partition_count) {
                group_ids.push_back(reader.group_id);
            }
        }
        const std::string metadata = groups::seed_metadata(next_epoch(topic));
        groups::SeedOffsets seeds = orphaned_seeds_of(topic);
        seeds.metadata = metadata;
        const auto removed = facts_.cluster.parts().groups.remove_seeds(nullptr, group_ids, seeds, now);
        if (!removed) {
            log::error("expansion", "could not take back the seeds of an interrupted expansion", {{"topic", topic.name}});
        } else if (*removed > 0) {
            log::info("expansion", "took back the seeds of an interrupted expansion",
                      {{"topic", topic.name}, {"seeds", *removed}});
        }
    });
}

// CreatePartitions -----------------------------------------------------------------------------------

bool Expansions::seed(const GrowingTopic& topic, Now now) {
    const std::string metadata = groups::seed_metadata(topic.epoch());
    groups::SeedOffsets seeds = seeds_of(topic);
    seeds.metadata = metadata;
    return facts_.cluster.parts().groups.seed_offsets(nullptr, topic.seeded_groups(), seeds, now);
}

bool Expansions::sync_seeds(const GrowingTopic& topic) {
    const auto synced = facts_.cluster.parts().groups.sync(topic.seeded_groups());
    if (synced) {
        return true;
    }
    if (synced.error().kind == StorageError::Kind::sync_failed) {
        fail_stop(synced.error());
    }
    log::error("expansion", "could not sync the seeds; the topic does not grow",
               {{"topic", topic.before->name}, {"reason", synced.error().message}});
    return false;
}

void Expansions::take_back_seeds(const GrowingTopic& topic, Now now) {
    const std::string metadata = groups::seed_metadata(topic.epoch());
    groups::SeedOffsets seeds = seeds_of(topic);
    seeds.metadata = metadata;
    if (!facts_.cluster.parts().groups.remove_seeds(nullptr, topic.seeded_groups(), seeds, now)) {
        log::error("expansion", "could not take back the seeds of a failed expansion; the next start after a crash removes them",
                   {{"topic", topic.before->name}});
    }
}

std::optional<std::size_t> Expansions::remove_seeds(logs::Turn& turn, const catalog::Topic& topic, std::int32_t epoch) {
    if (epoch < 1 || static_cast<std::size_t>(epoch) > topic.expansions.size()) {
        return 0;
    }
    const catalog::ExpansionEpoch& expansion = *topic.expansions[static_cast<std::size_t>(epoch) - 1];
    if (!expansion.circumstances) {
        return 0;
    }
    // First make sure that no start gives these seeds again.
    if (!catalog_.change(turn, catalog::ForgetSeededGroups{.topic_id = topic.id, .epoch = epoch})) {
        return std::nullopt;
    }
    std::vector<std::string> groups;
    for (groups::TopicReader& reader : facts_.cluster.parts().groups.readers_of(topic.name, topic.id)) {
        if (!reader.seeds.empty()) {
            groups.push_back(std::move(reader.group_id));
        }
    }
    return facts_.cluster.parts().groups.remove_seeds(&turn, groups, seeds_of(topic, expansion, groups::seed_metadata(epoch)),
                                                      turn.now());
}

}  // namespace partita::runtime
