#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/catalog/catalog.h"
#include "broker/groups/topic_readers.h"
#include "broker/insight/plan/plan_run.h"
#include "schedule/clock.h"

namespace partita::logs {
class DrainedPositions;
class PublishedTopics;
struct TopicState;
}  // namespace partita::logs

namespace partita::runtime {

class GroupShards;
class KeyObserver;
class TransactionShards;

/// Where the facts of a plan come from.
struct PlanSources {
    const logs::PublishedTopics& topics;
    GroupShards& groups;
    TransactionShards& transactions;
    KeyObserver& keys;
    Clock& clock;
};

/// Why there are no facts: the topic is unknown, or the count is no expansion of it. `message` is a sentence.
struct [[nodiscard]] PlanFactsError {
    enum class Kind { unknown_topic, invalid_target };
    Kind kind = Kind::invalid_target;
    std::string message;
};
/// What this broker knows about growing a topic to `new_count`: groups, commits, logs, configuration, earlier expansions. Takes
/// short locks only, and reads no disk; any thread may call this. Groups have no `positions` yet.
[[nodiscard]] std::expected<insight::PlannedTopic, PlanFactsError> plan_facts(const PlanSources& sources, std::string_view topic,
                                                                              std::int64_t new_count);

/// The same about the topic's last expansion, which has happened, to tell which of its hazards still stand. The topic must have
/// grown. Without the producers. Of the other topics that groups read it tells only the aligned ones, at most `aligned_max` over
/// all groups together but at least one of each, and those of `joins` (groups and topics of theirs, ascending). So its work is
/// linear in what it tells, but for positions: with transactions it reads the disk, `DrainedPositions::kBytesMax` at most, so no
/// reactor may call it.
[[nodiscard]] insight::PlannedTopic growth_facts(const PlanSources& sources, const logs::TopicState& topic,
                                                 std::size_t aligned_max,
                                                 std::span<const std::pair<std::string_view, std::string_view>> joins);

/// The Kafka Streams application whose changelog or repartition topic this is; see expansion/streams_topics.h. Takes the
/// locks of a few groups, one by one.
[[nodiscard]] std::optional<std::string> owning_application(GroupShards& groups, std::string_view topic);

/// Topics in the catalog that a plan of any topic needs to know. They are found once for any number of plans.
struct CatalogNames {
    /// Changelogs and repartition topics of Kafka Streams applications.
    std::vector<catalog::TopicPointer> streams_internal;
    /// The topics in which MirrorMaker 2 keeps its state.
    std::vector<std::string> mirrors;
};
[[nodiscard]] CatalogNames names_in(const catalog::CatalogSnapshot& catalog);

/// The same facts when the groups that read the topic were gathered before: without the producers. As quick.
[[nodiscard]] insight::PlannedTopic planned_topic(const PlanSources& sources, const logs::TopicState& topic,
                                                  std::int32_t old_count, std::int32_t new_count,
                                                  std::vector<groups::TopicReader> readers, const CatalogNames& names);
/// Fills in the groups' positions: each stands where there is something for it, since nobody reads, and so nobody commits, the
/// markers of transactions and what these aborted. `topic` is that of the facts, or a later state of it. Reads the disk where
/// transactions have ended behind a commit, so no reactor may call it.
void pass_what_nobody_reads(const logs::TopicState& topic, logs::DrainedPositions& drained,
                            std::vector<insight::GroupFacts>& groups);
/// Counts what each group has yet to be given, from its positions on. Reads as `counts` does.
void count_unread(insight::RecordCounts& counts, insight::PlannedTopic& facts);
/// The producers of the topic that have sent something lately.
[[nodiscard]] std::vector<insight::ProducerFacts> producer_facts(KeyObserver& keys, const logs::TopicState& topic,
                                                                 TimestampMs now);

/// What the epoch log keeps about an expansion: who asked for it, the groups, and the verdict that is possible without reading
/// the log. Pure.
[[nodiscard]] catalog::ExpansionCircumstances expansion_circumstances(const insight::PlannedTopic& facts,
                                                                      catalog::RequestOrigin requested_by);

/// The same verdict in a sentence or two, for error_message of a validate_only request that would succeed. Pure.
[[nodiscard]] std::string plan_sentence(const insight::PlannedTopic& facts);

/// The offset of the first record of each partition with a timestamp at or after `since`; the log's end where there is none, and
/// the log's start where that cannot be read. Empty when there is no such topic. It reads one batch of each partition, so no
/// reactor may call it.
[[nodiscard]] std::vector<Offset> offsets_since(const logs::PublishedTopics& topics, std::string_view topic, TimestampMs since);

}  // namespace partita::runtime
