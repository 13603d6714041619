#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "broker/insight/keys/heavy_hitters.h"
#include "broker/insight/keys/key_table.h"
#include "broker/insight/keys/placement_evidence.h"
#include "broker/partitioners/families.h"
#include "protocol/types.h"

/// Counts the effects of an expansion from N to M on the records of a topic, record by record.
///
/// The caller passes every record of interest once, partition by partition, each partition in the order of its offsets.
/// Counts of records and bytes are exact if the family is known from the start; keys are exact as far as `KeyTable` is. The
/// limits bound memory for any number of keys. Pure, one thread at a time.
namespace partita::insight {

/// A group's position in a partition: records at or above `offset` are its backlog.
struct ReadingPosition {
    Offset offset;
    /// The caller's number for the group.
    std::size_t group = 0;
};

struct CensusOptions {
    std::int32_t old_count = 1;
    std::int32_t new_count = 2;
    /// The rule that places keys; null if it is not known (yet): then nothing counts as moved.
    std::optional<partitioners::Family> family;
    /// Clients of the family treat an empty key as no key (librdkafka's default, for one).
    bool empty_key_is_none = false;
    /// Partition counts of the epochs, by epoch; the last is `old_count`.
    std::vector<std::int32_t> epoch_counts;
    /// For each partition, the position of each group that has a backlog there.
    std::vector<std::vector<ReadingPosition>> positions;
    std::size_t group_count = 0;
    KeyTable::Limits limits;
};

struct CensusRecord {
    PartitionIndex partition;
    std::int32_t epoch = 0;
    Offset offset;
    std::optional<Bytes> key;
    /// Size of key and value together.
    std::size_t size_bytes = 0;
    bool has_value = true;
};

struct PartitionCensus {
    std::int64_t records = 0;
    std::int64_t bytes = 0;
    /// Records whose keys move to this partition, or away from it.
    std::int64_t records_in = 0;
    std::int64_t records_out = 0;
};

struct MovedCount {
    std::int64_t records = 0;
    std::int64_t bytes = 0;
    /// Number of these records that move between two old partitions.
    std::int64_t records_among_old = 0;
};

class KeyCensus {
  public:
    static constexpr std::size_t kHeavyHitters = 1024;

    explicit KeyCensus(CensusOptions options);
    KeyCensus(const KeyCensus&) = delete;
    KeyCensus& operator=(const KeyCensus&) = delete;

    void add(const CensusRecord& record) { add(std::span(&record, 1)); }
    /// Adds several records, in their order. With many distinct keys, tens of records at once are several times as fast
    /// as one by one.
    void add(std::span<const CensusRecord> records);

    [[nodiscard]] const CensusOptions& options() const { return options_; }
    [[nodiscard]] std::int64_t records() const { return records_; }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }
    [[nodiscard]] std::int64_t keyed_records() const { return keyed_records_; }
    [[nodiscard]] std::int64_t keyed_bytes() const { return keyed_bytes_; }
    /// Records from before the last expansion whose keys now belong to another partition, by the family.
    [[nodiscard]] std::int64_t records_of_older_epochs() const { return older_epoch_records_; }
    [[nodiscard]] const KeyTable& keys() const { return keys_; }
    /// All zeros while no family is known.
    [[nodiscard]] const MovedCount& moved() const { return moved_; }
    /// By partition, new ones included.
    [[nodiscard]] const std::vector<PartitionCensus>& partitions() const { return partitions_; }
    /// For each group, by the caller's number: the number of records in its backlog whose keys move.
    [[nodiscard]] std::vector<std::int64_t> moved_backlog() const { return backlog(&Backlog::moved); }
    /// For each group, the number of all records in its backlog.
    [[nodiscard]] std::vector<std::int64_t> whole_backlog() const { return backlog(&Backlog::records); }
    /// Keys by bytes, heaviest first; exact when `error` is 0.
    [[nodiscard]] std::vector<HeavyHitters::Item> heaviest_keys(std::size_t count) const;

    /// The partitions of a key before and after; null without a family, or if the family cannot place the key.
    struct Move {
        PartitionIndex from;
        PartitionIndex to;
    };
    [[nodiscard]] std::optional<Move> move_of(Bytes key) const;

  private:
    /// The backlog of one partition: counts of records, and of those whose keys move, by the number of positions below them.
    struct Backlog {
        std::vector<ReadingPosition> positions;
        std::vector<std::int64_t> records;
        std::vector<std::int64_t> moved;
    };
    [[nodiscard]] std::vector<std::int64_t> backlog(std::vector<std::int64_t> Backlog::* counts) const;
    static constexpr std::size_t kTogether = 64;
    using Hashes = std::array<std::uint64_t, kTogether>;
    void prefetch(std::span<const CensusRecord> records, const Hashes& hashes) const;
    void add_hashed(const CensusRecord& record, std::uint64_t hash);
    void count_move(const CensusRecord& record, const Move& move);
    /// Copies the heaviest keys so far into the sketch. The table calls it when it is about to forget half of its keys.
    void start_sketch();

    CensusOptions options_;
    KeyTable keys_;
    /// In use only once the table is a sample.
    HeavyHitters heavy_;
    std::vector<PartitionCensus> partitions_;
    std::vector<Backlog> backlogs_;
    std::int64_t records_ = 0;
    std::int64_t bytes_ = 0;
    std::int64_t keyed_records_ = 0;
    std::int64_t keyed_bytes_ = 0;
    std::int64_t older_epoch_records_ = 0;
    MovedCount moved_;
};

}  // namespace partita::insight
