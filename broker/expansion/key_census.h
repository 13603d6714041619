#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "broker/expansion/heavy_hitters.h"
#include "broker/expansion/key_table.h"
#include "broker/expansion/placement_evidence.h"
#include "broker/partitioners/families.h"
#include "protocol/types.h"

/// Counts what an expansion from N to M would do to the records of a topic, record by record.
///
/// Fed in one pass with every record of interest, partition by partition, each partition in the order of its
/// offsets. Records and bytes are exact whenever the family is known from the start; keys are exact as far as
/// `KeyTable` is. Memory is bounded by the limits, whatever the number of keys. Pure, one thread at a time.
namespace partita::expansion {

/// Where a reader stands in a partition: records at or above `offset` are its backlog.
struct ReadingPosition {
    Offset offset;
    /// The caller's number of the group.
    std::size_t group = 0;
};

struct CensusOptions {
    std::int32_t old_count = 1;
    std::int32_t new_count = 2;
    /// How keys are placed; null when not known (yet): then nothing is said of moves.
    std::optional<partitioners::Family> family;
    /// Clients of the family treat the empty key as none (librdkafka's default, for one).
    bool empty_key_is_none = false;
    /// Partition counts of the epochs, by epoch; the last is `old_count`.
    std::vector<std::int32_t> epoch_counts;
    /// For each partition, of each group that has a backlog there.
    std::vector<std::vector<ReadingPosition>> positions;
    std::size_t group_count = 0;
    KeyTable::Limits limits;
};

struct CensusRecord {
    PartitionIndex partition;
    std::int32_t epoch = 0;
    Offset offset;
    std::optional<Bytes> key;
    /// Of key and value.
    std::size_t size_bytes = 0;
    bool has_value = true;
};

struct PartitionCensus {
    std::int64_t records = 0;
    std::int64_t bytes = 0;
    /// Records whose keys come here from another partition, or leave for one.
    std::int64_t records_in = 0;
    std::int64_t records_out = 0;
};

struct MovedCount {
    std::int64_t records = 0;
    std::int64_t bytes = 0;
    /// Of these, between two old partitions.
    std::int64_t records_among_old = 0;
};

class KeyCensus {
  public:
    static constexpr std::size_t kHeavyHitters = 1024;

    explicit KeyCensus(CensusOptions options);
    KeyCensus(const KeyCensus&) = delete;
    KeyCensus& operator=(const KeyCensus&) = delete;

    void add(const CensusRecord& record) { add(std::span(&record, 1)); }
    /// The same for records in their order. With many distinct keys, tens of records at once are several times as fast
    /// as one by one.
    void add(std::span<const CensusRecord> records);

    [[nodiscard]] const CensusOptions& options() const { return options_; }
    [[nodiscard]] std::int64_t records() const { return records_; }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }
    [[nodiscard]] std::int64_t keyed_records() const { return keyed_records_; }
    [[nodiscard]] std::int64_t keyed_bytes() const { return keyed_bytes_; }
    /// Records from before the last expansion of which the family says that their key lies elsewhere now.
    [[nodiscard]] std::int64_t records_of_older_epochs() const { return older_epoch_records_; }
    [[nodiscard]] const KeyTable& keys() const { return keys_; }
    /// Zeros without a family.
    [[nodiscard]] const MovedCount& moved() const { return moved_; }
    /// By partition, new ones included.
    [[nodiscard]] const std::vector<PartitionCensus>& partitions() const { return partitions_; }
    /// Backlog records of a group whose keys move. By the caller's number.
    [[nodiscard]] std::vector<std::int64_t> moved_backlog() const;
    /// Keys by bytes, heaviest first; exact when `error` is 0.
    [[nodiscard]] std::vector<HeavyHitters::Item> heaviest_keys(std::size_t count) const;

    /// Where a key lies before and after; null without a family, or for a key that the family cannot place.
    struct Move {
        PartitionIndex from;
        PartitionIndex to;
    };
    [[nodiscard]] std::optional<Move> move_of(Bytes key) const;

  private:
    /// Backlog of one partition: counts by how many of its positions a record lies behind.
    struct Backlog {
        std::vector<ReadingPosition> positions;
        std::vector<std::int64_t> moved;
    };
    static constexpr std::size_t kTogether = 64;
    using Hashes = std::array<std::uint64_t, kTogether>;
    void prefetch(std::span<const CensusRecord> records, const Hashes& hashes) const;
    void add_hashed(const CensusRecord& record, std::uint64_t hash);
    void count_move(const CensusRecord& record, const Move& move);
    /// The heaviest keys so far go on in the sketch, when the table is about to forget half of its keys.
    void start_sketch();

    CensusOptions options_;
    KeyTable keys_;
    /// In use once the table is a sample.
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

}  // namespace partita::expansion
