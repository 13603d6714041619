#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/insight/findings/record_count.h"
#include "broker/insight/order/keyed_records.h"
#include "broker/insight/plan/open_transaction.h"
#include "broker/insight/plan/plan.h"
#include "broker/insight/readers/reader_facts.h"
#include "protocol/function_ref.h"
#include "protocol/types.h"

/// The cluster that insight watches, as facts: ids, names, counts and offsets behind small interfaces. broker/insight/local
/// implements them over the broker's own parts. Another implementation can ask another cluster over the network; the same
/// observers then watch that cluster.
namespace partita::insight {

/// A topic between two of its growths.
struct TopicRef {
    TopicId id;
    /// How many times the topic has grown.
    std::size_t growths = 0;
};

/// Where a log begins and ends: `start <= stable_end <= end`.
struct LogEdges {
    Offset start;
    /// Where the first open transaction begins; equal to the end if no transaction is open.
    Offset stable_end;
    Offset end;
};

/// The settings and other properties of a topic, apart from its records, name and partitions.
struct TopicTraits {
    /// The topic is one of Kafka's internal topics.
    bool is_internal = false;
    bool is_compacted = false;
    /// cleanup.policy contains "delete".
    bool is_deleted_by_age = true;
    /// retention.ms; -1 keeps records forever.
    std::int64_t retention_ms = -1;
    /// How long producers may take to learn a new count (partita.expansion.window.ms).
    std::int64_t window_ms = 600'000;
    /// A growth gives groups offset 0 in new partitions.
    bool seeds_offsets = false;
    /// kNoTimestamp if it is not known; earlier growths may then be unknown, too.
    TimestampMs created = kNoTimestamp;
};

/// A topic that has grown, as noted when it grows or when the observer starts.
struct GrownTopic {
    TopicId id;
    std::string name;
    /// All growths, ascending.
    std::vector<EarlierExpansion> growths;
    /// `ObservedTopics::sequence` of the newest growth. Older views of the topics do not know this growth.
    std::int64_t sequence = 0;
    /// Pairs of a group and another topic: members held the same partitions of both topics before the growth.
    std::vector<std::pair<std::string, std::string>> joins;
    /// The groups that read the topic at its newest growth, if all of them are known.
    std::optional<std::set<std::string>> readers;
};

/// A topic at one moment. Name, counts and traits stay as they were then, but its logs go on.
class ObservedTopic {
  public:
    virtual ~ObservedTopic() = default;

    [[nodiscard]] virtual TopicRef ref() const = 0;
    /// Valid as long as this object.
    [[nodiscard]] virtual std::string_view name() const = 0;
    [[nodiscard]] virtual std::int32_t partition_count() const = 0;
    [[nodiscard]] virtual TopicTraits traits() const = 0;
    /// All growths, ascending.
    [[nodiscard]] virtual std::vector<EarlierExpansion> growths() const = 0;
    /// A number that changes with everything about the topic except its records.
    [[nodiscard]] virtual std::uint64_t state() const = 0;
    /// By partition.
    [[nodiscard]] virtual std::vector<LogEdges> logs() const = 0;

    /// The groups for which the topic's fence stopped waiting; null without a fence.
    [[nodiscard]] virtual std::optional<std::set<std::string>> released_by_fence() const = 0;
    [[nodiscard]] virtual std::vector<OpenTransaction> open_transactions() const = 0;

    // These read the topic's records and must not outlive the topic.
    [[nodiscard]] virtual std::unique_ptr<RecordFates> fates() const = 0;
    [[nodiscard]] virtual std::unique_ptr<RecordCounter> counter() const = 0;
    /// For one look, which reads about `bytes_max` of them at most. Null if records cannot be read.
    [[nodiscard]] virtual std::unique_ptr<KeyedRecords> records(std::size_t bytes_max) const = 0;
    /// Fills in the positions of groups that have committed. Each position is that of the next record that the group can be
    /// given.
    virtual void find_positions(std::vector<GroupFacts>& groups) const = 0;
};

/// All topics at one moment. This object must outlive what it returns.
class ObservedTopics {
  public:
    virtual ~ObservedTopics() = default;

    /// Grows with every change of the topics.
    [[nodiscard]] virtual std::int64_t sequence() const = 0;
    /// Null if the topic does not exist.
    [[nodiscard]] virtual std::unique_ptr<ObservedTopic> find(const TopicId& topic) const = 0;
    [[nodiscard]] virtual std::unique_ptr<ObservedTopic> find(std::string_view name) const = 0;
    /// Calls `visit` with the name and count of each topic. Names are valid as long as this object.
    virtual void for_each_name(FunctionRef<void(std::string_view name, std::int32_t partitions)> visit) const = 0;
    /// All topics that have grown, without joins and readers.
    [[nodiscard]] virtual std::vector<GrownTopic> grown() const = 0;
};

}  // namespace partita::insight
