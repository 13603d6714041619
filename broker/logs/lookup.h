#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "broker/logs/outcome.h"
#include "broker/logs/placement.h"
#include "broker/logs/topic_table.h"

namespace partita::logs {

/// A topic as a request names it: by its id, or by its name.
struct TopicName {
    std::string_view name;
    TopicId id;
    bool is_id = false;
};

/// A topic, or why it is not given. Valid as long as its table.
struct TopicLookup {
    const TopicState* topic = nullptr;
    Outcome outcome = Outcome::ok;
};

/// Finds the topic, if `may_use` says of its name that the client may. An unknown id is answered `unknown_topic_id`, because ids
/// are no secret. Of a name, a client without the permission hears `not_authorized`, so that it does not learn whether the topic
/// exists; only then `unknown_topic` is possible.
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

/// A partition of a topic that was found, or why it is not given.
struct PartitionLookup {
    /// Null when there is none.
    const std::shared_ptr<Partition>* partition = nullptr;
    /// `not_led_here` when the node that was asked is not the leader; the partition is there then.
    Outcome outcome = Outcome::ok;
};

/// `listener`: the name of the one through which the request came.
[[nodiscard]] inline PartitionLookup find_partition(const TopicState& topic, PartitionIndex index, const Placement& placement,
                                                    std::string_view listener) {
    if (topic.partition(index.value) == nullptr) {
        return {nullptr, Outcome::unknown_partition};
    }
    const bool is_led_here = placement.is_led_at(listener, topic.topic->name, index);
    return {&topic.partitions[static_cast<std::size_t>(index.value)], is_led_here ? Outcome::ok : Outcome::not_led_here};
}

}  // namespace partita::logs
