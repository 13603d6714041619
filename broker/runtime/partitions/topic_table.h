#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "broker/config/topic_config.h"
#include "broker/runtime/partitions/partition.h"
#include "broker/topics/catalog.h"

namespace partita::runtime {

class TopicExpansion;

/// A topic as the running broker sees it: the catalog's view, the settings in force, the logs.
/// Immutable; a change makes another one that shares the partitions.
struct TopicState {
    topics::TopicPointer topic;
    std::shared_ptr<const config::TopicConfig> config;
    std::vector<std::shared_ptr<Partition>> partitions;
    /// Null while nothing about the topic's growth needs watching, which is one look for produce and fetch. Shared by
    /// the states of a topic from then on.
    std::shared_ptr<TopicExpansion> expansion;

    [[nodiscard]] Partition* partition(std::int32_t index) const {
        return index >= 0 && static_cast<std::size_t>(index) < partitions.size()
                   ? partitions[static_cast<std::size_t>(index)].get()
                   : nullptr;
    }
};

/// All topics at one moment, immutable, replaced whole. The states are spread over shards that
/// consecutive tables share, so a change of one topic among thousands copies a small part.
class TopicTable {
  public:
    static constexpr std::size_t kShards = 64;

    /// Never null.
    topics::CatalogPointer catalog;

    [[nodiscard]] const TopicState* find(const TopicId& id) const { return share(id).get(); }
    [[nodiscard]] const TopicState* find(std::string_view name) const {
        const topics::Topic* topic = catalog->find_topic(name);
        return topic == nullptr ? nullptr : find(topic->id);
    }
    /// Of a topic that the catalog has. Null for one that it has not.
    [[nodiscard]] std::shared_ptr<const TopicState> share(const TopicId& id) const;

    /// For the one who makes the next table.
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

}  // namespace partita::runtime
