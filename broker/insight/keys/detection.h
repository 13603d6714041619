#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>

#include "broker/insight/keys/topic_watch.h"

/// The TopicWatch of every topic, with bounds for the whole broker. Pure; one caller at a time.
namespace partita::insight {

class Detection {
  public:
    /// Most topics that are watched. A further one replaces the topic whose records were observed longest ago.
    static constexpr std::size_t kTopicsMax = 256;
    /// Most keys in the index of one topic, and in all of them together: beyond the total the largest index is halved. About 300
    /// bytes each.
    static constexpr std::size_t kTopicKeysMax = 16'384;
    static constexpr std::size_t kKeysMax = 131'072;
    /// Most producers of all topics together, about 7 KB each. Beyond it, the topic with the most producers forgets its most
    /// silent one.
    static constexpr std::size_t kProducersMax = 2'048;

    /// Returns the topic's watch, and creates it if it is missing. `epochs` are the topic's partition counts, the one in force
    /// last. The reference is valid until the next call.
    [[nodiscard]] TopicWatch& watch(const TopicId& topic, std::string_view name, std::span<const TopicEpoch> epochs);
    /// The topic's watch, which counts as used now; null if it has none. Valid until the next call of `watch`.
    [[nodiscard]] TopicWatch* use(const TopicId& topic);
    /// Enforces the bounds above. The caller calls it after it has reported records.
    void keep_bounds();

    [[nodiscard]] const TopicWatch* find(const TopicId& topic) const;
    void forget(const TopicId& topic);

    template <class Visit>
    void for_each(Visit visit) {
        for (auto& [id, entry] : topics_) {
            visit(id, *entry.watch);
        }
    }
    [[nodiscard]] std::size_t topic_count() const { return topics_.size(); }
    [[nodiscard]] std::size_t key_count() const;
    [[nodiscard]] std::size_t producer_count() const;

  private:
    struct Entry {
        std::unique_ptr<TopicWatch> watch;
        std::uint64_t last_used = 0;
    };

    std::map<TopicId, Entry> topics_;
    std::uint64_t uses_ = 0;
};

}  // namespace partita::insight
