#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "broker/logs/outcome.h"
#include "broker/logs/placement.h"
#include "broker/logs/topic_table.h"

namespace partita::logs {

/// The name or id by which a request names a topic.
struct TopicName {
    std::string_view name;
    TopicId id;
    bool is_id = false;
};

/// A topic, or the reason why the look-up failed. Valid as long as its table.
struct TopicLookup {
    const TopicState* topic = nullptr;
    Outcome outcome = Outcome::ok;
};

/// Finds the topic if `may_use` allows the client to use its name. An unknown id gives `unknown_topic_id`, because ids are no
/// secret. For an unpermitted name the result is `not_authorized`, so the client does not learn whether the topic exists.
/// `unknown_topic` is only possible with the permission.
template <class MayUse>
[[nodiscard]] TopicLookup find_topic(const TopicTable& table, const TopicName& wanted, MayUse&& may_use) {
    const TopicState* topic = wanted.is_id ? table.find(wanted.id) : table.find(wanted.name);
    if (topic == nullptr && wanted.is_id) {
        return {nullptr, Outcome::unknown_topic_id};
    }
    if (!may_use(wanted.is_id ? std::string_view(topic->topic->name) : wanted.name)) {
        return {nullptr, Outcome::not_authorized};
    }
    if (topic == nullptr) {
        return {nullptr, Outcome::unknown_topic};
    }
    return {topic, Outcome::ok};
}

/// A partition of a known topic, or the reason why the look-up failed.
struct PartitionLookup {
    /// Null if the topic has no partition with this index.
    const std::shared_ptr<Partition>* partition = nullptr;
    /// `not_led_here` if another node leads the partition; `partition` is then set.
    Outcome outcome = Outcome::ok;
};

/// `listener` is the name of the listener that received the request.
[[nodiscard]] inline PartitionLookup find_partition(const TopicState& topic, PartitionIndex index, const Placement& placement,
                                                    std::string_view listener) {
    if (topic.partition(index.value) == nullptr) {
        return {nullptr, Outcome::unknown_partition};
    }
    const bool is_led_here = placement.is_led_at(listener, topic.topic->name, index);
    return {&topic.partitions[static_cast<std::size_t>(index.value)], is_led_here ? Outcome::ok : Outcome::not_led_here};
}

}  // namespace partita::logs
