#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <unordered_set>

#include "broker/insight/facts/topics.h"
#include "protocol/types.h"

namespace partita::insight {

/// The groups that have told their positions from before the topic's last growth. Pure; not thread-safe.
class ToldPositions {
  public:
    /// With more groups, it forgets all of them and asks for their positions again.
    static constexpr std::size_t kGroupsMax = 65'536;

    [[nodiscard]] bool contains(const TopicRef& topic, std::string_view group) const {
        return told_.contains(key_of(topic, group));
    }
    void add(const TopicRef& topic, std::string_view group) {
        if (told_.size() == kGroupsMax) {
            told_.clear();
        }
        told_.insert(key_of(topic, group));
    }
    void clear() { told_.clear(); }

  private:
    /// A hash of topic, number of growths and group.
    [[nodiscard]] static std::size_t key_of(const TopicRef& topic, std::string_view group) {
        return (std::hash<TopicId>()(topic.id) * 31 + topic.growths) * 31 + std::hash<std::string_view>()(group);
    }
    std::unordered_set<std::size_t> told_;
};

}  // namespace partita::insight
