#include "broker/insight/keys/detection.h"

#include <algorithm>
#include <string>

namespace partita::insight {

TopicWatch& Detection::watch(const TopicId& topic, std::string_view name, std::span<const TopicEpoch> epochs) {
    auto place = topics_.find(topic);
    if (place == topics_.end()) {
        if (topics_.size() >= kTopicsMax) {
            topics_.erase(std::ranges::min_element(topics_, {}, [](const auto& entry) { return entry.second.last_used; }));
        }
        place = topics_.emplace(topic, Entry{std::make_unique<TopicWatch>(std::string(name), epochs, kTopicKeysMax)}).first;
    }
    place->second.last_used = ++uses_;
    place->second.watch->set_epochs(epochs);
    return *place->second.watch;
}

TopicWatch* Detection::use(const TopicId& topic) {
    const auto place = topics_.find(topic);
    if (place == topics_.end()) {
        return nullptr;
    }
    place->second.last_used = ++uses_;
    return place->second.watch.get();
}

void Detection::keep_bounds() {
    while (key_count() > kKeysMax) {
        std::ranges::max_element(topics_, {}, [](const auto& entry) {
            return entry.second.watch->keys().keys().size();
        })->second.watch->halve_keys();
    }
    while (producer_count() > kProducersMax) {
        std::ranges::max_element(topics_, {}, [](const auto& entry) {
            return entry.second.watch->producer_count();
        })->second.watch->forget_a_producer();
    }
}

const TopicWatch* Detection::find(const TopicId& topic) const {
    const auto place = topics_.find(topic);
    return place == topics_.end() ? nullptr : place->second.watch.get();
}

void Detection::forget(const TopicId& topic) { topics_.erase(topic); }

std::size_t Detection::key_count() const {
    std::size_t count = 0;
    for (const auto& [id, entry] : topics_) {
        count += entry.watch->keys().keys().size();
    }
    return count;
}

std::size_t Detection::producer_count() const {
    std::size_t count = 0;
    for (const auto& [id, entry] : topics_) {
        count += entry.watch->producer_count();
    }
    return count;
}

}  // namespace partita::insight
