#include "broker/runtime/growth/expansions.h"

#include <algorithm>
#include <limits>

#include "broker/assembly/broker.h"
#include "broker/config/log_setup.h"
#include "broker/expansion/visibility.h"
#include "broker/runtime/loop/clock.h"
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

groups::SeedOffsets seeds_of(const topics::Topic& topic, const topics::ExpansionEpoch& expansion,
                             const std::string& metadata) {
    return {.group_id = {},
            .topic = topic.name,
            .topic_id = topic.id,
            .first = PartitionIndex{expansion.old_partition_count},
            .end = PartitionIndex{expansion.new_partition_count},
            .metadata = metadata};
}

}  // namespace

// Start ----------------------------------------------------------------------------------------------

void Expansions::load_fences(const std::string& data_directory) {
    next_upkeep_ms_ = 0;
    fence_directory_ = join_path(data_directory, kFenceDirectory);
    FileSystem& files = broker_.file_system();
    const auto exists = files.exists(fence_directory_);
    if (!exists || !*exists) {
        return;
    }
    const auto entries = files.list(fence_directory_);
    for (std::size_t index = 0; entries && index < entries->size(); ++index) {
        const std::string& name = (*entries)[index].name;
        TopicId id;
        if (!Uuid::parse(name, id)) {
            continue;
        }
        const auto content = read_whole_file(files, join_path(fence_directory_, name), kStoredFenceBytesMax);
        std::string reason = content ? "" : content.error().message;
        if (content && (content->size() < kChecksumBytes ||
                        load_big_endian<std::uint32_t>(as_bytes(*content).data()) !=
                            crc32c(as_bytes(std::string_view(*content).substr(kChecksumBytes))))) {
            reason = "its checksum is wrong";
        }
        if (reason.empty()) {
            auto fence = expansion::Fence::decode(std::string_view(*content).substr(kChecksumBytes), read_clock().wall);
            if (fence) {
                loaded_fences_.emplace(id, std::move(*fence));
                continue;
            }
            reason = fence.error();
        }
        log::warning("expansion", "a stored fence cannot be read; records of an expansion may reach groups out of order",
                     {{"topic_id", name}, {"reason", reason}});
    }
}

std::shared_ptr<TopicExpansion> Expansions::state_for(const topics::Topic& topic, const config::TopicConfig& config,
                                                      const std::shared_ptr<TopicExpansion>& before, bool is_new,
                                                      Now now) {
    if (before) {
        return before;
    }
    const auto loaded = loaded_fences_.find(topic.id);
    const bool watches_producers = config.expansion_mode == config::ExpansionMode::guarded ||
                                   config.expansion_mode == config::ExpansionMode::fenced;
    const bool was_nudged = config.nudge != 0;
    if (loaded == loaded_fences_.end() && !watches_producers && !was_nudged) {
        return nullptr;
    }
    auto state = std::make_shared<TopicExpansion>(broker_, is_new ? TopicExpansion::kSinceItsCreation : now.monotonic);
    if (loaded != loaded_fences_.end()) {
        loaded->second.forget_partitions_from(topic.partition_count);
        state->restore_fence(std::move(loaded->second));
        loaded_fences_.erase(loaded);
        fences_.fetch_add(1, std::memory_order_relaxed);
    }
    return state;
}

void Expansions::recover(bool was_clean, Now now) {
    // Topics that are no more.
    for (const auto& [id, fence] : loaded_fences_) {
        topic_deleted(id);
    }
    loaded_fences_.clear();
    if (was_clean) {
        return;
    }
    remove_orphaned_seeds(now);
    const std::shared_ptr<const TopicTable> table = broker_.topic_table();
    table->for_each([&](const TopicState& state) {
        if (state.topic->expansions.empty() || !state.topic->expansions.back()->circumstances) {
            return;
        }
        const topics::ExpansionEpoch& expansion = *state.topic->expansions.back();
        const std::int64_t age_ms = now.wall.value - expansion.time.value;
        // A group that does not read the topic any more was deleted since; offset 0 would bring it back to life.
        std::vector<std::string> seeded;
        for (const groups::TopicReader& reader : broker_.groups().readers_of(state.topic->name, state.topic->id)) {
            if (std::ranges::find(expansion.circumstances->seeded_groups, reader.group_id) != expansion.circumstances->seeded_groups.end()) {
                seeded.push_back(reader.group_id);
            }
        }
        if (!seeded.empty() && age_ms < kSeedAgainMs &&
            !broker_.groups().seed_offsets(nullptr, seeded,
                                           seeds_of(*state.topic, expansion, groups::seed_metadata(expansion.epoch)), now)) {
            log::error("expansion", "offsets of an expansion cannot be seeded again", {{"topic", state.topic->name}});
        }
        if (!state.expansion) {
            return;
        }
        const bool was_fenced = expansion.circumstances->mode == config::expansion_mode_name(config::ExpansionMode::fenced);
        if (was_fenced && !state.expansion->status().has_fence && age_ms < state.config->expansion_window_ms) {
            open_fence(state, now);
        }
        state.expansion->cover_unknown_batches(state);
    });
}

void Expansions::remove_orphaned_seeds(Now now) {
    const std::shared_ptr<const TopicTable> table = broker_.topic_table();
    table->for_each([&](const TopicState& state) {
        if (state.config->expansion_mode == config::ExpansionMode::faithful) {
            return;
        }
        const topics::Topic& topic = *state.topic;
        std::vector<std::string> group_ids;
        for (const groups::TopicReader& reader : broker_.groups().readers_of(topic.name, topic.id)) {
            if (!reader.committed.empty() && reader.committed.rbegin()->first.value >= topic.partition_count) {
                group_ids.push_back(reader.group_id);
            }
        }
        const std::string metadata = groups::seed_metadata(next_epoch(topic));
        groups::SeedOffsets seeds = orphaned_seeds_of(topic);
        seeds.metadata = metadata;
        const auto removed = broker_.groups().remove_seeds(nullptr, group_ids, seeds, now);
        if (!removed) {
            log::error("expansion", "offsets of an expansion that did not happen cannot be removed", {{"topic", topic.name}});
        } else if (*removed > 0) {
            log::info("expansion", "an expansion was interrupted before it happened; its offsets were removed",
                      {{"topic", topic.name}, {"offsets", *removed}});
        }
    });
}

// CreatePartitions -----------------------------------------------------------------------------------

bool Expansions::seed(const GrowingTopic& topic, Now now) {
    const std::string metadata = groups::seed_metadata(topic.epoch());
    groups::SeedOffsets seeds = seeds_of(topic);
    seeds.metadata = metadata;
    return broker_.groups().seed_offsets(nullptr, topic.seeded_groups(), seeds, now);
}

void Expansions::take_back_seeds(const GrowingTopic& topic, Now now) {
    const std::string metadata = groups::seed_metadata(topic.epoch());
    groups::SeedOffsets seeds = seeds_of(topic);
    seeds.metadata = metadata;
    if (!broker_.groups().remove_seeds(nullptr, topic.seeded_groups(), seeds, now)) {
        log::error("expansion", "offsets of an expansion that failed stay until the next start after a crash",
                   {{"topic", topic.before->name}});
    }
}

void Expansions::open_fence(const TopicState& topic, Now now) {
    const topics::ExpansionEpoch& expansion = *topic.topic->expansions.back();
    if (!topic.expansion || !expansion.circumstances ||
        expansion.circumstances->mode != config::expansion_mode_name(config::ExpansionMode::fenced)) {
        return;
    }
    topic.expansion->open_fence(topic, expansion.epoch, expansion.old_partition_count, expansion.new_partition_count, now);
    fences_.fetch_add(1, std::memory_order_relaxed);
    // Without a sync, which no reactor waits for: it outlives the process, and maintenance syncs it soon.
    if (const auto fence = topic.expansion->encoded_fence()) {
        if (const auto stored = store(topic.topic->id, *fence, false); !stored) {
            log::warning("expansion", "a fence cannot be stored yet",
                         {{"topic", topic.topic->name}, {"reason", stored.error().message}});
        }
    }
    broker_.data_written();
}

void Expansions::topic_deleted(const TopicId& id) {
    if (const auto removed = broker_.file_system().remove(fence_path(id)); !removed) {
        log::warning("expansion", "a stored fence cannot be removed", {{"reason", removed.error().message}});
    }
}

std::optional<std::size_t> Expansions::remove_seeds(Turn& turn, const topics::Topic& topic, std::int32_t epoch) {
    if (epoch < 1 || static_cast<std::size_t>(epoch) > topic.expansions.size()) {
        return 0;
    }
    const topics::ExpansionEpoch& expansion = *topic.expansions[static_cast<std::size_t>(epoch) - 1];
    if (!expansion.circumstances) {
        return 0;
    }
    // First of all no start may give them again.
    if (!broker_.change_catalog<std::vector<std::string>>(turn, [&](const topics::CatalogCore& catalog, const topics::CatalogContext&) {
            return catalog.forget_seeded_groups(topic.id, epoch);
        })) {
        return std::nullopt;
    }
    std::vector<std::string> groups;
    for (groups::TopicReader& reader : broker_.groups().readers_of(topic.name, topic.id)) {
        if (!reader.seeds.empty()) groups.push_back(std::move(reader.group_id));
    }
    return broker_.groups().remove_seeds(&turn, groups, seeds_of(topic, expansion, groups::seed_metadata(epoch)), turn.now());
}

// Groups ---------------------------------------------------------------------------------------------

void Expansions::wake_held(std::string_view topic) {
    const std::shared_ptr<const TopicTable> table = broker_.topic_table();
    const TopicState* state = table->find(topic);
    if (state != nullptr && state->expansion) {
        wake_held(*state);
    }
}

void Expansions::wake_held(const TopicState& topic) {
    for (const std::shared_ptr<Partition>& partition : topic.partitions) {
        broker_.post_change(*partition);
    }
}

void Expansions::identities_changed() {
    if (fences() == 0) {
        return;
    }
    const std::shared_ptr<const TopicTable> table = broker_.topic_table();
    table->for_each([&](const TopicState& topic) {
        if (topic.expansion) {
            wake_held(topic);
        }
    });
}

// Maintenance ----------------------------------------------------------------------------------------

Instant Expansions::next_upkeep() const {
    return fences() == 0 ? Instant{std::numeric_limits<std::int64_t>::max()}
                         : Instant{next_upkeep_ms_.load(std::memory_order_relaxed)};
}

void Expansions::upkeep(Now now) {
    if (now.monotonic < next_upkeep()) {
        return;
    }
    next_upkeep_ms_.store(now.monotonic.value + kUpkeepMs, std::memory_order_relaxed);
    int fences = 0;
    const std::shared_ptr<const TopicTable> table = broker_.topic_table();
    table->for_each([&](const TopicState& state) {
        if (!state.expansion) {
            return;
        }
        const TopicExpansion::Upkeep found = state.expansion->upkeep(state, now);
        fence_timeouts_.fetch_add(found.new_timeouts, std::memory_order_relaxed);
        if (!found.findings.empty() || told_findings_.contains(state.topic->id)) {
            broker_.findings().settle(findings_source("fence", state.topic->id), found.findings, now.wall);
            told_findings_.insert(state.topic->id);
        }
        if (found.findings.empty()) {
            told_findings_.erase(state.topic->id);
        }
        if (found.closed != expansion::Fence::WindowState::none) {
            log::info("expansion", "the window of an expansion is closed: " + window_name(found.closed),
                      {{"topic", state.topic->name}});
        }
        if (found.is_over) {
            topic_deleted(state.topic->id);
        } else {
            fences += state.expansion->status().has_fence ? 1 : 0;
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
            broker_.findings().settle(findings_source("fence", id), {}, now.wall);
        }
        return is_gone;
    });
    fences_.store(fences, std::memory_order_relaxed);
}

void Expansions::store_all() {
    const std::shared_ptr<const TopicTable> table = broker_.topic_table();
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

std::string Expansions::fence_path(const TopicId& id) const { return join_path(fence_directory_, id.to_string()); }

StorageResult<void> Expansions::store(const TopicId& id, std::string_view fence, bool durable) {
    FileSystem& files = broker_.file_system();
    if (auto made = files.make_directories(fence_directory_); !made) {
        return made;
    }
    ByteBuffer content;
    content.append_big_endian(crc32c(as_bytes(fence)));
    content.append(as_bytes(fence));
    return replace_file(files, fence_path(id), content.bytes(), durable);
}

// Test controls --------------------------------------------------------------------------------------

void Expansions::note_producer(const expansion::ClientIdentity& client) {
    const std::scoped_lock lock(roles_mutex_);
    roles_.note(client).produces = true;
}

void Expansions::note_consumer(const expansion::ClientIdentity& client) {
    const std::scoped_lock lock(roles_mutex_);
    roles_.note(client).consumes = true;
}

std::int32_t Expansions::visible_partitions(const TopicState& topic, const expansion::ClientIdentity& client,
                                             const expansion::ClientRoles& own, Now now) {
    const std::int32_t true_count = topic.topic->partition_count;
    const expansion::VisibilityDelays delays{.producers_ms = topic.config->visibility_producers_delay_ms,
                                             .consumers_ms = topic.config->visibility_consumers_delay_ms};
    if (!delays.any() || topic.topic->expansions.empty()) {
        return true_count;
    }
    std::optional<expansion::ClientRoles> roles;
    if (own.produces || own.consumes) {
        roles = own;
    } else {
        const std::scoped_lock lock(roles_mutex_);
        if (const expansion::ClientRoles* known = roles_.find(client)) {
            roles = *known;
        }
    }
    std::vector<expansion::CountStep> steps;
    for (const auto& step : topic.topic->expansions) {
        steps.push_back({step->old_partition_count, step->new_partition_count, step->time});
    }
    const std::int64_t delay_ms = expansion::delay_for(roles ? &*roles : nullptr, delays);
    const std::int32_t visible = expansion::visible_count(steps, true_count, delay_ms, now.wall);
    if (visible == true_count) {
        return true_count;
    }
    // A member that holds a hidden partition could not fetch from it otherwise: it is told the truth.
    for (const groups::TopicReader& group : broker_.groups().readers_of(topic.topic->name, topic.topic->id)) {
        for (const groups::TopicReader::Member& member : group.members) {
            if (member.client_id == client.client_id && member.client_host == client.address && !member.assigned.empty() &&
                member.assigned.back().value >= visible) {
                return true_count;
            }
        }
    }
    return visible;
}

}  // namespace partita::runtime
