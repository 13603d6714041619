#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/insight/facts/cluster.h"
#include "broker/insight/plan/plan_run.h"
#include "schedule/clock.h"

namespace partita::insight {

class KeyObserver;

/// The sources of facts for a plan: the cluster, and the observer of its keys.
struct PlanSources {
    const ObservedCluster& cluster;
    KeyObserver& keys;
    Clock& clock;
};

/// Why there are no facts: the topic is unknown, or the count does not expand it. `message` is a sentence.
struct [[nodiscard]] PlanFactsError {
    enum class Kind { unknown_topic, invalid_target };
    Kind kind = Kind::invalid_target;
    std::string message;
};
/// The facts about growing a topic to `new_count`: groups, commits, logs, configuration, earlier growths. Reads no records;
/// callable from any thread. Groups have no `positions` yet.
[[nodiscard]] std::expected<PlannedTopic, PlanFactsError> plan_facts(const PlanSources& sources, std::string_view topic,
                                                                     std::int64_t new_count);

/// The facts about the last growth of a topic, which must have grown. They tell which hazards of that growth still stand, and
/// leave out the producers.
///
/// The result has two kinds of other topics that a group reads. One kind are those in `joins`: pairs of a group and a topic,
/// ascending. The other are aligned ones: at most `aligned_max` over all groups together, but at least one for each group that
/// has any. So the work is linear in the result, except for positions. To find these, it reads records where transactions have
/// ended, so no reactor may call it.
[[nodiscard]] PlannedTopic growth_facts(const PlanSources& sources, const ObservedTopic& topic, std::size_t aligned_max,
                                        std::span<const std::pair<std::string_view, std::string_view>> joins);

/// Topics of the cluster that a plan of any topic needs to know, gathered once for any number of plans.
struct ClusterNames {
    struct Topic {
        /// Valid as long as the topics from which it comes.
        std::string_view name;
        std::int32_t partition_count = 0;
    };
    /// Changelogs and repartition topics of Kafka Streams applications.
    std::vector<Topic> streams_internal;
    /// The topics in which MirrorMaker 2 keeps its state.
    std::vector<std::string> mirrors;
};
[[nodiscard]] ClusterNames names_in(const ObservedTopics& topics);

/// The facts about growing the topic from `old_count` to `new_count`, for a caller that has gathered `groups`: those that read
/// the topic, ascending by id. Leaves out the producers. Reads no records.
[[nodiscard]] PlannedTopic planned_topic(const PlanSources& sources, const ObservedTopic& topic, std::int32_t old_count,
                                         std::int32_t new_count, std::vector<GroupFacts> groups, const ClusterNames& names);
/// Counts the records that each group has yet to be given, from its positions on. Reads as `counter` does.
void count_unread(RecordCounter& counter, PlannedTopic& facts);
/// The producers of the topic that have sent something lately.
[[nodiscard]] std::vector<ProducerFacts> producer_facts(KeyObserver& keys, const TopicId& topic, TimestampMs now);

/// The verdict that is possible without reading the log, in a sentence or two. For the error_message of a validate_only request
/// that would succeed. Pure.
[[nodiscard]] std::string plan_sentence(const PlannedTopic& facts);

}  // namespace partita::insight
