#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "broker/catalog/catalog.h"
#include "broker/config/topic_config.h"
#include "broker/logs/partition.h"
#include "broker/logs/topic_steps.h"

namespace partita::runtime {
class TopicExpansion;
}

namespace partita::logs {

/// A topic as the running broker sees it: the catalog's view, the settings in force, and the partitions. It is immutable; a
/// change makes a new state that shares the partitions.
struct TopicState {
    catalog::TopicPointer topic;
    std::shared_ptr<const config::TopicConfig> config;
    std::vector<std::shared_ptr<Partition>> partitions;
    /// Null while nothing watches the topic's growth, so that produce and fetch check only one pointer. Once set, all later
    /// states of the topic share it.
    std::shared_ptr<runtime::TopicExpansion> expansion;
    /// The steps that appends to this topic and reads of it pass. Null for most topics.
    std::shared_ptr<const TopicSteps> steps;

    [[nodiscard]] Partition* partition(std::int32_t index) const {
        return index >= 0 && static_cast<std::size_t>(index) < partitions.size()
                   ? partitions[static_cast<std::size_t>(index)].get()
                   : nullptr;
    }
};

/// All topics at one moment. A published table is immutable; the catalog replaces it as a whole. The states are spread over
/// shards that consecutive tables share. A change of one topic among thousands thus copies a small part.
class TopicTable {
  public:
    static constexpr std::size_t kShards = 64;

    /// Never null.
    catalog::CatalogPointer catalog;

    [[nodiscard]] const TopicState* find(const TopicId& id) const { return share(id).get(); }
    [[nodiscard]] const TopicState* find(std::string_view name) const {
        const catalog::Topic* topic = catalog->find_topic(name);
        return topic == nullptr ? nullptr : find(topic->id);
    }
    /// The state of the topic; null if the table has no such topic.
    [[nodiscard]] std::shared_ptr<const TopicState> share(const TopicId& id) const;

    // Only for the catalog, while it builds the next table.
    void put(std::shared_ptr<const TopicState> state);
    void remove(const TopicId& id);

    /// Calls `visit` for every topic, in no particular order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const auto& shard : shards_) {
            if (shard) {
                for (const auto& [id, state] : *shard) {
                    visit(*state);
                }
            }
        }
    }

  private:
    using Shard = std::unordered_map<TopicId, std::shared_ptr<const TopicState>>;

    [[nodiscard]] static std::size_t shard_of(const TopicId& id) { return id.bytes[15] % kShards; }

    std::array<std::shared_ptr<const Shard>, kShards> shards_;
};

}  // namespace partita::logs
