#include "broker/runtime/fences/fences.h"

#include <algorithm>

#include "broker/config/log_setup.h"
#include "broker/runtime/findings/findings_hub.h"
#include "broker/runtime/loop/upkeep_bell.h"
#include "broker/runtime/partitions/published_topics.h"
#include "broker/runtime/partitions/turns.h"
#include "broker/topics/catalog_core.h"

namespace partita::runtime {
namespace {

std::string window_name(expansion::Fence::WindowState state) {
    return state == expansion::Fence::WindowState::closed_by_proof ? "every producer is proven to know the new count"
                                                                   : "its time is over";
}

}  // namespace

Fences::Fences(FenceFiles& files, const PublishedTopics& topics, Turns& turns, Readers readers, FindingsHub& findings,
               UpkeepBell& upkeep)
    : files_(files), topics_(topics), turns_(turns), readers_(readers), findings_(findings), upkeep_(upkeep) {}

void Fences::load(TimestampMs now) { loaded_ = files_.load(now); }

std::shared_ptr<TopicExpansion> Fences::state_for(const topics::Topic& topic, const config::TopicConfig& config,
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
    return std::make_shared<TopicExpansion>(readers_.groups, readers_.connections, producers_known_since);
}

void Fences::finish_load() {
    // Topics that are no more.
    for (const auto& [id, fence] : loaded_) {
        remove_stored(id);
    }
    loaded_.clear();
}

void Fences::open(const TopicState& topic, Now now) {
    const topics::ExpansionEpoch& expansion = *topic.topic->expansions.back();
    if (!topic.expansion || !expansion.circumstances ||
        expansion.circumstances->mode != config::expansion_mode_name(config::ExpansionMode::fenced)) {
        return;
    }
    topic.expansion->open_fence(topic, expansion.epoch, expansion.old_partition_count, expansion.new_partition_count, now);
    count_.fetch_add(1, std::memory_order_relaxed);
    // Without a sync, which no reactor waits for: it outlives the process, and maintenance syncs it soon.
    if (const auto fence = topic.expansion->encoded_fence()) {
        if (const auto stored = files_.store(topic.topic->id, *fence, false); !stored) {
            log::warning("expansion", "a fence cannot be stored yet",
                         {{"topic", topic.topic->name}, {"reason", stored.error().message}});
        }
    }
    upkeep_.data_written();
}

void Fences::on_topics_changed(const TopicsChange& change) {
    using Kind = topics::CatalogChange::Kind;
    for (const topics::CatalogChange& one : change.changes) {
        if (one.kind == Kind::topic_reconfigured) {
            const TopicState* state = change.now.find(one.after->id);
            if (state->config->nudge != change.before.find(one.after->id)->config->nudge && state->expansion) {
                nudge(*state, change.time);
            }
        } else if (one.kind == Kind::topic_deleted) {
            const TopicState* state = change.before.find(one.before->id);
            if (state != nullptr && state->expansion) {
                remove_stored(one.before->id);
            }
        }
    }
}

void Fences::remove_stored(const TopicId& id) {
    if (const auto removed = files_.remove(id); !removed) {
        log::warning("expansion", "a stored fence cannot be removed", {{"reason", removed.error().message}});
    }
}

void Fences::wake_held(std::string_view topic) {
    const std::shared_ptr<const TopicTable> table = topics_.table();
    const TopicState* state = table->find(topic);
    if (state != nullptr && state->expansion) {
        wake_held(*state);
    }
}

void Fences::wake_held(const TopicState& topic) {
    for (const std::shared_ptr<Partition>& partition : topic.partitions) {
        turns_.post_change(*partition);
    }
}

void Fences::identities_changed() {
    if (count() == 0) {
        return;
    }
    const std::shared_ptr<const TopicTable> table = topics_.table();
    table->for_each([&](const TopicState& topic) {
        if (topic.expansion) {
            wake_held(topic);
        }
    });
}

void Fences::nudge(const TopicState& topic, Now now) {
    topic.expansion->nudge(now.monotonic);
    // Fetches that wait see it at once.
    wake_held(topic);
}

Instant Fences::next_due() const { return count() == 0 ? kNever : Instant{next_upkeep_ms_.load(std::memory_order_relaxed)}; }

void Fences::run_due(Now now) {
    if (now.monotonic < next_due()) {
        return;
    }
    next_upkeep_ms_.store(now.monotonic.value + kUpkeepMs, std::memory_order_relaxed);
    // One that opens meanwhile is counted by whoever opens it.
    const int counted_before = count();
    int fences = 0;
    const std::shared_ptr<const TopicTable> table = topics_.table();
    table->for_each([&](const TopicState& state) {
        if (!state.expansion) {
            return;
        }
        const TopicExpansion::Upkeep found = state.expansion->upkeep(state, now);
        timeouts_.fetch_add(found.new_timeouts, std::memory_order_relaxed);
        if (!found.findings.empty() || told_findings_.contains(state.topic->id)) {
            findings_.settle(findings_source("fence", state.topic->id), found.findings, now.wall);
            told_findings_.insert(state.topic->id);
        }
        if (found.findings.empty()) {
            told_findings_.erase(state.topic->id);
        }
        if (found.closed != expansion::Fence::WindowState::none) {
            log::info("expansion", "the window of an expansion is closed: " + window_name(found.closed),
                      {{"topic", state.topic->name}});
        }
        const bool has_fence = state.expansion->status().has_fence;
        fences += has_fence ? 1 : 0;
        // Unless the topic grew again since, and the file is that of its new fence.
        if (found.is_over && !has_fence) {
            remove_stored(state.topic->id);
        }
        if (found.store) {
            if (const auto stored = files_.store(state.topic->id, *found.store, true); !stored) {
                state.expansion->not_stored();
                log::warning("expansion", "a fence cannot be stored yet",
                             {{"topic", state.topic->name}, {"reason", stored.error().message}});
            }
        }
    });
    // Of topics that were deleted.
    std::erase_if(told_findings_, [&](const TopicId& id) {
        const bool is_gone = table->find(id) == nullptr;
        if (is_gone) {
            findings_.settle(findings_source("fence", id), {}, now.wall);
        }
        return is_gone;
    });
    count_.fetch_add(fences - counted_before, std::memory_order_relaxed);
}

void Fences::store_all() {
    const std::shared_ptr<const TopicTable> table = topics_.table();
    table->for_each([&](const TopicState& state) {
        const auto fence = state.expansion ? state.expansion->encoded_fence() : std::nullopt;
        if (!fence) {
            return;
        }
        if (const auto stored = files_.store(state.topic->id, *fence, true); !stored) {
            log::warning("expansion", "a fence cannot be stored",
                         {{"topic", state.topic->name}, {"reason", stored.error().message}});
        }
    });
}

}  // namespace partita::runtime
