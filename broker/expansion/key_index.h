#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "broker/expansion/heavy_hitters.h"
#include "protocol/types.h"

/// Keys of a live topic and where their newest records lie, in bounded memory.
namespace partita::expansion {

/// A key's records in one partition.
struct KeyPlacement {
    PartitionIndex partition;
    /// The topic's expansion in force when the newest of them was written; 0 before the first.
    std::int32_t epoch = 0;
    Offset first;
    Offset last;
    /// The newest one of an earlier epoch than `epoch`, and its epoch; kNoOffset when all are of one epoch. A stale producer
    /// goes on writing to the old partition, but what lay there before stays what it was.
    Offset last_of_earlier = kNoOffset;
    std::int32_t earlier_epoch = 0;
    std::int64_t records = 0;
    /// When the newest one was seen, counted in records of the topic: tells the order between partitions.
    std::uint64_t last_seen = 0;
    /// The newest one is a tombstone.
    bool is_tombstone = false;
};

struct IndexedKey {
    std::string key;
    /// In the order in which the partitions were first used. One element for almost every key.
    std::vector<KeyPlacement> placements;
};

/// Exact while there are no more distinct keys than the limit. Beyond, it keeps a sample, uniform over distinct keys: those
/// whose hash lies below a threshold that is halved each time the index is full. A key is there with all of its records
/// or not at all, so what is said about a kept key stays exact, and the number of all keys is known with a relative error
/// of about 1 / sqrt(limit).
class KeyIndex {
  public:
    /// Longer keys are counted and not kept.
    static constexpr std::size_t kKeyBytesMax = 256;
    /// Partitions remembered for one key; the one used longest ago makes room.
    static constexpr std::size_t kPlacementsMax = 4;
    static constexpr std::size_t kHeavyKeysMax = 64;

    /// At most `keys_max` >= 2 keys.
    explicit KeyIndex(std::size_t keys_max) : keys_max_(keys_max), heavy_(kHeavyKeysMax) {}

    struct Record {
        Bytes key;
        /// 64 good bits over the key.
        std::uint64_t key_hash = 0;
        PartitionIndex partition;
        std::int32_t epoch = 0;
        Offset offset;
        std::size_t size_bytes = 0;
        bool is_tombstone = false;
    };
    void add(const Record& record);

    /// By hash. Keys with equal hashes of 64 bits count as one.
    [[nodiscard]] const std::unordered_map<std::uint64_t, IndexedKey>& keys() const { return keys_; }
    [[nodiscard]] const IndexedKey* find(std::uint64_t key_hash) const;
    /// Every distinct key that was seen is here.
    [[nodiscard]] bool is_complete() const { return halvings_ == 0 && long_keys_ == 0; }
    /// One of so many keys is in the sample.
    [[nodiscard]] std::int64_t sampling() const { return std::int64_t{1} << halvings_; }
    /// Distinct keys: exact when complete, else an estimate.
    [[nodiscard]] std::int64_t distinct_keys() const { return static_cast<std::int64_t>(keys_.size()) << halvings_; }
    /// Distinct keys with records in each partition of `partition_count`, estimated likewise.
    [[nodiscard]] std::vector<std::int64_t> distinct_keys_by_partition(std::int32_t partition_count) const;
    /// Records whose key was too long to keep.
    [[nodiscard]] std::int64_t long_keys() const { return long_keys_; }
    [[nodiscard]] std::int64_t records() const { return static_cast<std::int64_t>(records_); }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }
    /// The keys with the most bytes.
    [[nodiscard]] std::vector<HeavyHitters::Item> heavy_keys() const { return heavy_.items(); }

    /// Drops about half of the keys.
    void halve();

  private:
    [[nodiscard]] bool is_sampled(std::uint64_t hash) const { return halvings_ == 0 || hash >> (64 - halvings_) == 0; }

    std::size_t keys_max_;
    std::unordered_map<std::uint64_t, IndexedKey> keys_;
    HeavyHitters heavy_;
    int halvings_ = 0;
    std::uint64_t records_ = 0;
    std::int64_t bytes_ = 0;
    std::int64_t long_keys_ = 0;
};

}  // namespace partita::expansion
