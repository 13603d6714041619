#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/catalog/catalog.h"
#include "broker/catalog/catalog_commands.h"
#include "protocol/error_code.h"
#include "protocol/types.h"

namespace partita::catalog {

class CatalogImage;

/// Decides everything that changes the catalog: a pure state machine without clock, files or threads.
///
/// How to use it. A command looks at the current snapshot and returns a `Decision`: the reply and the `Effects`.
/// Nothing has changed yet. The shell
///   1. appends `effects.records` to the catalog's log as ONE record batch, so that all or none of them
///      survive (an expansion is a topic record and an epoch record; half of it must not exist);
///   2. calls `commit(effects)`, which makes `effects.next` the current snapshot;
///   3. publishes `snapshot()` to the reactors, tells logs, groups and waiting fetches of
///      `effects.changes`, and lets the reply leave.
/// When step 1 fails, the effects are dropped and nothing happened. A crash between any two steps
/// leaves either the old or the new catalog: `replay` of what was persisted gives exactly
/// `effects.next` when step 1 was done. Without records (errors, validate_only) steps 1 and 2 are
/// skipped: see `Effects::empty`.
///
/// One caller at a time, and a decision must be committed or dropped before the next command.
class CatalogCore {
  public:
    /// `rules` judges config names and values and must outlive the core.
    explicit CatalogCore(const ConfigRules& rules);
    ~CatalogCore();
    CatalogCore(const CatalogCore&) = delete;
    CatalogCore& operator=(const CatalogCore&) = delete;

    // Start-up -----------------------------------------------------------------------------------

    /// Takes one persisted record; no value is a tombstone. Records of one key must come in the order in which they were written.
    /// Keys may come in any order (LMDB gives them sorted, the log's tail follows). Errors: bytes that are not a catalog record,
    /// or that a newer version wrote.
    [[nodiscard]] std::expected<void, CatalogReplayError> replay(Bytes key, std::optional<Bytes> value);
    /// Ends the replay: checks that the records form a whole catalog (unique names, complete epochs) and makes it the current
    /// snapshot. The shell calls it once, before the first command, even after an empty replay.
    [[nodiscard]] std::expected<void, CatalogReplayError> finish_replay();

    /// Never null after `finish_replay`.
    [[nodiscard]] const CatalogPointer& snapshot() const { return snapshot_; }

    // Commands -----------------------------------------------------------------------------------

    /// Gives a new data directory its cluster id and finalized features. An existing cluster id is kept, and only changed
    /// features are written. Without changes there are no records.
    [[nodiscard]] Decision<InitialiseReply> initialise(std::string_view cluster_id, const FeatureLevels& features,
                                                       const CatalogContext& context) const;

    /// CreateTopics. Topics are judged one by one: failures do not stop others. Results are in Kafka's order: the
    /// topics of the request, then each name that came more than once, once, then __cluster_metadata. A request for
    /// more than 10,000 partitions, or one that needs more than 10,000 of Kafka's records, fails as a whole.
    [[nodiscard]] Decision<CreateTopicsReply> create_topics(const CreateTopicsCommand& command,
                                                            const CatalogContext& context) const;

    /// Creates a topic that Metadata or a coordinator needs on first use; internal topics get the configs that Kafka gives them.
    /// If the topic exists, the result is `none` with its id, and no records. Otherwise errors as in `CreatedTopic`, but never
    /// for the three internal names. The caller decides whether auto-creation is allowed (auto.create.topics.enable, the
    /// request's flag); internal topics are created regardless.
    [[nodiscard]] Decision<CreatedTopic> auto_create_topic(std::string_view name, const CatalogContext& context) const;

    /// DeleteTopics, with names and ids mixed. Kafka shuffles its results; here refusals come first, then deletions in
    /// the order of the request.
    [[nodiscard]] Decision<DeleteTopicsReply> delete_topics(const DeleteTopicsCommand& command,
                                                            const CatalogContext& context) const;

    /// CreatePartitions. Results: duplicates first, then topics in the order of the request. The judgement
    /// (`TopicToExpand::judged`) may refuse an expansion that Kafka allows. For an expansion that happens, the core calls
    /// `context.log_end_offsets` once. It records the result and the judged circumstances in the same atomic group as the new
    /// count.
    [[nodiscard]] Decision<CreatePartitionsReply> create_partitions(const CreatePartitionsCommand& command,
                                                                    const CatalogContext& context) const;

    /// Adds producers that have switched to the new count to an earlier expansion. A producer's first switch stands. Without news
    /// there are no records.
    [[nodiscard]] Decision<RecordProducerSwitchesReply> record_producer_switches(
        const RecordProducerSwitchesCommand& command) const;

    /// Empties `seeded_groups` of that expansion's circumstances: no group has offsets from it any more. No records if it was
    /// empty. Returns the groups that it named.
    [[nodiscard]] Decision<std::vector<std::string>> forget_seeded_groups(const TopicId& topic, std::int32_t epoch) const;

    /// IncrementalAlterConfigs (KIP-339) of topics, brokers, groups and client metrics subscriptions. Resources are judged one by
    /// one. Within one resource either all changes apply or none.
    [[nodiscard]] Decision<AlterConfigsReply> incremental_alter_configs(const IncrementalAlterConfigsCommand& command,
                                                                        const CatalogContext& context) const;
    /// The legacy AlterConfigs: removes the configs of a resource that the request does not name.
    [[nodiscard]] Decision<AlterConfigsReply> alter_configs(const AlterConfigsCommand& command,
                                                            const CatalogContext& context) const;

    /// Reserves `kProducerIdBlockSize` producer ids that were never given out before, not even by earlier runs. A
    /// restart loses the rest of a block, as in Kafka.
    [[nodiscard]] Decision<ProducerIdBlockReply> allocate_producer_ids(const CatalogContext& context) const;

    /// Makes `effects.next` the current snapshot. Asserts that the effects were decided on the present one.
    void commit(const Effects& effects);

  private:
    const ConfigRules& rules_;
    CatalogPointer snapshot_;
    /// Set only during the replay.
    std::unique_ptr<CatalogImage> replayed_;
};

}  // namespace partita::catalog
