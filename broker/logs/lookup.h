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
    /// Null if the topic has no partition with this index. Valid as long as the topic's state.
    const std::shared_ptr<Partition>* partition = nullptr;
    /// `not_led_here` if another node leads the partition; `partition` is then set.
    Outcome outcome = Outcome::ok;

    /// The outcome for a request that names the leader epoch `named`; see Partition::judge_leader_epoch. A wrong epoch
    /// counts before a wrong node, as in Kafka.
    [[nodiscard]] Outcome judge_leader_epoch(LeaderEpoch named) const {
        const Outcome epoch = partition == nullptr ? Outcome::ok : (*partition)->judge_leader_epoch(named);
        return epoch == Outcome::ok ? outcome : epoch;
    }
};

/// For a caller that belongs to the process and not to one of its nodes, such as a client of HTTP: all partitions are led here.
[[nodiscard]] inline PartitionLookup find_partition(const TopicState& topic, PartitionIndex index) {
    if (topic.partition(index.value) == nullptr) {
        return {nullptr, Outcome::unknown_partition};
    }
    return {&topic.partitions[static_cast<std::size_t>(index.value)], Outcome::ok};
}

/// `asked` is the node that received the request (ListenerView::node).
[[nodiscard]] inline PartitionLookup find_partition(const TopicState& topic, PartitionIndex index, const Placement& placement,
                                                    BrokerId asked) {
    PartitionLookup found = find_partition(topic, index);
    if (found.outcome == Outcome::ok && !placement.is_led_at(asked, topic.topic->id, index)) {
        found.outcome = Outcome::not_led_here;
    }
    return found;
}

}  // namespace partita::logs
