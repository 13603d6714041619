#include "broker/runtime/fences/fences.h"

#include <utility>

#include "broker/catalog/catalog_core.h"
#include "broker/config/log_setup.h"
#include "broker/logs/topic_table.h"
#include "broker/runtime/loop/upkeep_bell.h"

namespace partita::runtime {

void Fences::load(TimestampMs now) { loaded_ = files_.load(now); }

std::shared_ptr<TopicExpansion> Fences::state_for(const catalog::Topic& topic, const config::TopicConfig& config,
                                                  const std::shared_ptr<TopicExpansion>& before, bool is_new, Now now) {
    if (before) {
        return before;
    }
    const auto loaded = loaded_.find(topic.id);
    const bool watches_producers =
        config.expansion_mode == config::ExpansionMode::guarded || config.expansion_mode == config::ExpansionMode::fenced;
    const bool was_nudged = config.nudge != 0;
    if (loaded == loaded_.end() && !watches_producers && !was_nudged) {
        return nullptr;
    }
    auto state = new_state(is_new ? TopicExpansion::kSinceItsCreation : now.monotonic);
    if (loaded != loaded_.end()) {
        loaded->second.forget_partitions_from(topic.partition_count);
        state->restore_fence(std::move(loaded->second));
        loaded_.erase(loaded);
        count_.fetch_add(1, std::memory_order_relaxed);
    }
    return state;
}

std::shared_ptr<TopicExpansion> Fences::new_state(Instant producers_known_since) {
    return std::make_shared<TopicExpansion>(readers_.groups, readers_.connections, producers_known_since,
                                            longest_transaction_ms_);
}

void Fences::finish_load() {
    // The fences that remain belong to deleted topics.
    for (const auto& [id, fence] : loaded_) {
        remove_stored(id);
    }
    loaded_.clear();
}

void Fences::open(const logs::TopicState& topic, Now now) {
    const catalog::ExpansionEpoch& expansion = *topic.topic->expansions.back();
    if (!topic.expansion || !expansion.circumstances ||
        expansion.circumstances->mode != config::expansion_mode_name(config::ExpansionMode::fenced)) {
        return;
    }
    topic.expansion->open_fence(topic, expansion.epoch, expansion.old_partition_count, expansion.new_partition_count, now);
    count_.fetch_add(1, std::memory_order_relaxed);
    // Store it without a sync, because no reactor may wait for one. The file outlives the process, and maintenance syncs it soon.
    if (const auto fence = topic.expansion->encoded_fence()) {
        // The next upkeep stores it again in any case.
        (void)store(*topic.topic, *fence, false);
    }
    upkeep_.data_written();
}

void Fences::on_topics_changed(const logs::TopicsChange& change) {
    using Kind = catalog::CatalogChange::Kind;
    for (const catalog::CatalogChange& one : change.changes) {
        if (one.kind == Kind::topic_deleted) {
            const logs::TopicState* state = change.before.find(one.before->id);
            if (state != nullptr && state->expansion) {
                remove_stored(one.before->id);
            }
        }
    }
}

bool Fences::store(const catalog::Topic& topic, std::string_view encoded_fence, bool durable) {
    const auto stored = files_.store(topic.id, encoded_fence, durable);
    if (!stored) {
        log::warning("expansion", "could not store a fence; after a restart, groups may wait for the whole parent partition",
                     {{"topic", topic.name}, {"reason", stored.error().message}});
    }
    return stored.has_value();
}

void Fences::note_upkeep(int change, std::uint64_t new_timeouts) {
    count_.fetch_add(change, std::memory_order_relaxed);
    timeouts_.fetch_add(new_timeouts, std::memory_order_relaxed);
}

void Fences::remove_stored(const TopicId& id) {
    if (const auto removed = files_.remove(id); !removed) {
        log::warning("expansion", "could not remove a stored fence",
                     {{"topic_id", id.to_string()}, {"reason", removed.error().message}});
    }
}

}  // namespace partita::runtime
