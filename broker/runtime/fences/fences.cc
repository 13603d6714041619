#include "broker/runtime/fences/fences.h"

#include <algorithm>
#include <limits>

#include "broker/config/log_setup.h"
#include "broker/runtime/findings/findings_hub.h"
#include "broker/runtime/loop/upkeep_bell.h"
#include "broker/runtime/partitions/published_topics.h"
#include "broker/runtime/partitions/turns.h"
#include "protocol/byte_buffer.h"
#include "protocol/crc32c.h"

namespace partita::runtime {
namespace {

constexpr std::string_view kFenceDirectory = "partita-fences";
constexpr std::size_t kChecksumBytes = 4;

std::string window_name(expansion::Fence::WindowState state) {
    return state == expansion::Fence::WindowState::closed_by_proof ? "every producer is proven to know the new count"
                                                                   : "its time is over";
}

}  // namespace

Fences::Fences(FileSystem& file_system, const std::string& data_directory, const PublishedTopics& topics, Turns& turns,
               Readers readers, FindingsHub& findings, UpkeepBell& upkeep)
    : files_(file_system),
      directory_(join_path(data_directory, kFenceDirectory)),
      topics_(topics),
      turns_(turns),
      readers_(readers),
      findings_(findings),
      upkeep_(upkeep) {}

void Fences::load() {
    const auto exists = files_.exists(directory_);
    if (!exists || !*exists) {
        return;
    }
    const auto entries = files_.list(directory_);
    for (std::size_t index = 0; entries && index < entries->size(); ++index) {
        const std::string& name = (*entries)[index].name;
        TopicId id;
        if (!Uuid::parse(name, id)) {
            continue;
        }
        const auto content = read_whole_file(files_, join_path(directory_, name), kStoredFenceBytesMax);
        std::string reason = content ? "" : content.error().message;
        if (content &&
            (content->size() < kChecksumBytes || load_big_endian<std::uint32_t>(as_bytes(*content).data()) !=
                                                     crc32c(as_bytes(std::string_view(*content).substr(kChecksumBytes))))) {
            reason = "its checksum is wrong";
        }
        if (reason.empty()) {
            auto fence = expansion::Fence::decode(std::string_view(*content).substr(kChecksumBytes), turns_.clock().now().wall);
            if (fence) {
                loaded_.emplace(id, std::move(*fence));
                continue;
            }
            reason = fence.error();
        }
        log::warning("expansion", "a stored fence cannot be read; records of an expansion may reach groups out of order",
                     {{"topic_id", name}, {"reason", reason}});
    }
}

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
        topic_deleted(id);
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
        if (const auto stored = store(topic.topic->id, *fence, false); !stored) {
            log::warning("expansion", "a fence cannot be stored yet",
                         {{"topic", topic.topic->name}, {"reason", stored.error().message}});
        }
    }
    upkeep_.data_written();
}

void Fences::topic_deleted(const TopicId& id) {
    if (const auto removed = files_.remove(path_of(id)); !removed) {
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

Instant Fences::next_upkeep() const {
    return count() == 0 ? Instant{std::numeric_limits<std::int64_t>::max()}
                        : Instant{next_upkeep_ms_.load(std::memory_order_relaxed)};
}

void Fences::upkeep(Now now) {
    if (now.monotonic < next_upkeep()) {
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
            topic_deleted(state.topic->id);
        }
        if (found.store) {
            if (const auto stored = store(state.topic->id, *found.store, true); !stored) {
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
        if (const auto stored = store(state.topic->id, *fence, true); !stored) {
            log::warning("expansion", "a fence cannot be stored",
                         {{"topic", state.topic->name}, {"reason", stored.error().message}});
        }
    });
}

std::string Fences::path_of(const TopicId& id) const { return join_path(directory_, id.to_string()); }

StorageResult<void> Fences::store(const TopicId& id, std::string_view fence, bool durable) {
    if (auto made = files_.make_directories(directory_); !made) {
        return made;
    }
    ByteBuffer content;
    content.append_big_endian(crc32c(as_bytes(fence)));
    content.append(as_bytes(fence));
    return replace_file(files_, path_of(id), content.bytes(), durable);
}

}  // namespace partita::runtime
