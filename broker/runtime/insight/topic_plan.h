#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/expansion/plan_run.h"
#include "broker/groups/topic_readers.h"
#include "broker/topics/catalog.h"
#include "schedule/clock.h"

namespace partita::runtime {

class GroupShards;
class KeyObserver;
class PublishedTopics;
struct TopicState;

/// Where the facts of a plan come from.
struct PlanSources {
    const PublishedTopics& topics;
    GroupShards& groups;
    KeyObserver& keys;
    Clock& clock;
};

/// What this broker knows about growing a topic to `new_count`: groups, commits, logs, configuration, earlier
/// expansions. Takes short locks only; on any thread.
///
/// The error is a sentence: the topic is unknown, or the count is no expansion of it.
struct PlanFactsError {
    enum class Kind { unknown_topic, invalid_target };
    Kind kind = Kind::invalid_target;
    std::string message;
};
[[nodiscard]] std::expected<expansion::PlannedTopic, PlanFactsError> plan_facts(const PlanSources& sources, std::string_view topic,
                                                                             std::int64_t new_count);

/// The same about the topic's last expansion, which has happened: to tell which of its hazards still stand. The topic has
/// grown.
[[nodiscard]] expansion::PlannedTopic growth_facts(const PlanSources& sources, const TopicState& topic);

/// The Kafka Streams application whose changelog or repartition topic this is; see expansion/streams_topics.h. Takes the
/// locks of a few groups, one by one.
[[nodiscard]] std::optional<std::string> owning_application(GroupShards& groups, std::string_view topic);

/// Names in the catalog that a plan of any topic needs: found once for however many plans.
struct CatalogNames {
    /// Changelogs and repartition topics of Kafka Streams applications.
    std::vector<topics::TopicPointer> streams_internal;
    /// Topics by which MirrorMaker 2 keeps its books.
    std::vector<std::string> mirrors;
};
[[nodiscard]] CatalogNames names_in(const topics::CatalogSnapshot& catalog);

/// The same facts when the groups that read the topic were gathered before: without the producers.
[[nodiscard]] expansion::PlannedTopic planned_topic(const PlanSources& sources, const TopicState& topic, std::int32_t old_count,
                                                    std::int32_t new_count, std::vector<groups::TopicReader> readers,
                                                    const CatalogNames& names);
/// Those of the topic that sent something lately.
[[nodiscard]] std::vector<expansion::ProducerFacts> producer_facts(KeyObserver& keys, const TopicState& topic, TimestampMs now);

/// What the epoch log keeps of an expansion: who asked, the groups, and the verdict that can be had without reading the log.
/// Pure.
[[nodiscard]] topics::ExpansionCircumstances expansion_circumstances(const expansion::PlannedTopic& facts,
                                                                     topics::RequestOrigin requested_by);

/// The same verdict in a sentence or two, for error_message of a validate_only request that would succeed. Pure.
[[nodiscard]] std::string plan_sentence(const expansion::PlannedTopic& facts);

/// The first offset of each partition with a timestamp at or after `since`; the log's end where there is none.
/// Reads one batch of each partition: not for a reactor.
[[nodiscard]] std::vector<Offset> offsets_since(const PublishedTopics& topics, std::string_view topic, TimestampMs since);

}  // namespace partita::runtime
