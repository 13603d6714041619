#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/insight/facts/topics.h"
#include "broker/logs/topic_table.h"
#include "broker/runtime/fences/topic_expansion.h"
#include "protocol/function_ref.h"
#include "protocol/types.h"

/// The broker's own topics as facts.

namespace partita::logs {
class DrainedPositions;
class PublishedTopics;
}  // namespace partita::logs

namespace partita::runtime {
class TransactionShards;
}  // namespace partita::runtime

namespace partita::insight {

[[nodiscard]] inline TopicRef ref_of(const logs::TopicState& topic) { return {topic.topic->id, topic.topic->expansions.size()}; }

/// The topic's growths, from its own catalog record. The caller gathered `joins` before the newest growth. `is_growing`: the
/// topic grows now, so the result has the readers that the record names, if it names all. Otherwise the result has no readers.
[[nodiscard]] GrownTopic grown_topic(const catalog::Topic& topic, std::vector<std::pair<std::string, std::string>> joins,
                                     bool is_growing);

/// One state of the topic. Takes locks of its logs and of transaction coordinators for a moment.
class LocalTopic final : public ObservedTopic {
  public:
    LocalTopic(const logs::TopicState& topic, runtime::TransactionShards& transactions)
        : topic_(topic), transactions_(transactions) {}

    [[nodiscard]] const logs::TopicState& state_in_force() const { return topic_; }

    [[nodiscard]] TopicRef ref() const override { return ref_of(topic_); }
    [[nodiscard]] std::string_view name() const override { return topic_.topic->name; }
    [[nodiscard]] std::int32_t partition_count() const override { return topic_.topic->partition_count; }
    [[nodiscard]] TopicTraits traits() const override;
    [[nodiscard]] std::vector<EarlierExpansion> growths() const override;
    [[nodiscard]] std::uint64_t state() const override { return reinterpret_cast<std::uintptr_t>(&topic_); }
    [[nodiscard]] std::vector<LogEdges> logs() const override;
    [[nodiscard]] std::optional<std::set<std::string>> released_by_fence() const override;
    [[nodiscard]] std::vector<OpenTransaction> open_transactions() const override;
    [[nodiscard]] std::unique_ptr<RecordFates> fates() const override;
    [[nodiscard]] std::unique_ptr<RecordCounter> counter() const override;
    [[nodiscard]] std::unique_ptr<KeyedRecords> records(std::size_t bytes_max) const override;
    void find_positions(std::vector<GroupFacts>& groups) const override;

  private:
    const logs::TopicState& topic_;
    runtime::TransactionShards& transactions_;
};

/// The topics of one topic table.
class LocalTopics final : public ObservedTopics {
  public:
    LocalTopics(std::shared_ptr<const logs::TopicTable> table, runtime::TransactionShards& transactions)
        : table_(std::move(table)), transactions_(transactions) {}

    [[nodiscard]] std::int64_t sequence() const override { return table_->catalog->sequence(); }
    [[nodiscard]] std::unique_ptr<ObservedTopic> find(const TopicId& topic) const override;
    [[nodiscard]] std::unique_ptr<ObservedTopic> find(std::string_view name) const override;
    void for_each_name(FunctionRef<void(std::string_view name, std::int32_t partitions)> visit) const override;
    [[nodiscard]] std::vector<GrownTopic> grown() const override;

  private:
    const std::shared_ptr<const logs::TopicTable> table_;
    runtime::TransactionShards& transactions_;
};

/// Moves the groups' positions to the next record that they can be given. No client reads, and so none commits, transaction
/// markers and aborted records. `topic` is the topic of the facts, or a later state of it. Reads the disk if transactions have
/// ended behind a commit, so no reactor may call it.
void skip_undeliverable(const logs::TopicState& topic, logs::DrainedPositions& drained, std::vector<GroupFacts>& groups);

/// By partition, the offset of the first record with a timestamp at or after `since`. Without such a record it is the log's end;
/// if the log cannot be read, the log's start. Empty if the topic does not exist. It reads one batch of each partition, so no
/// reactor may call it.
[[nodiscard]] std::vector<Offset> offsets_since(const logs::PublishedTopics& topics, std::string_view topic, TimestampMs since);

}  // namespace partita::insight
