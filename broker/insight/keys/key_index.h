#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "broker/insight/keys/heavy_hitters.h"
#include "protocol/types.h"

/// The keys of a live topic and the places of their newest records, in bounded memory.
namespace partita::insight {

/// A key's records in one partition.
struct KeyPlacement {
    PartitionIndex partition;
    /// The topic's epochs in which the first and the newest of these records were written; 0 before the first
    /// expansion.
    std::int32_t first_epoch = 0;
    std::int32_t epoch = 0;
    Offset first;
    Offset last;
    /// The newest record in a batch before that of `last`; kNoOffset if there is none.
    Offset before_last = kNoOffset;
    std::int64_t records = 0;
    /// When the newest of these records was seen, as a count of the topic's records: gives the order between partitions.
    std::uint64_t last_seen = 0;
    /// The newest of these records is a tombstone.
    bool is_tombstone = false;
    /// `last` belongs to a transaction, so it may still be aborted.
    bool is_transactional = false;
};

struct IndexedKey {
    std::string key;
    /// In the order in which the partitions were first used. One element for almost every key.
    std::vector<KeyPlacement> placements;
};

/// One of several partitions in which a key lay within one epoch; `last` is its newest record of that epoch there.
struct PastPlacement {
    std::int32_t epoch = 0;
    PartitionIndex partition;
    Offset last;
};

/// A key went from one partition to another: its record `later` was written after `earlier`, at any counts. The fate of
/// transactional records is not known yet, so the step also keeps the records that count if these are aborted.
struct KeyStep {
    /// How many further tries of a transaction a step keeps.
    static constexpr std::size_t kAgainMax = 2;

    PartitionIndex from;
    PartitionIndex to;
    Offset earlier;
    Offset later;
    /// The key was first seen in `from` at an earlier count of the topic, and in `to` at a later one.
    bool is_with_growth = false;
    /// Set if `earlier` is transactional: the key's newest record in `from` in a batch before that.
    Offset before_earlier = kNoOffset;
    /// Set if `later` is transactional: the key's next records in `to`, one of each batch, up to the first that is not
    /// transactional.
    std::array<Offset, kAgainMax> again{kNoOffset, kNoOffset};
    /// One more such record may still come.
    bool is_open = false;
};

/// The index is exact while there are no more distinct keys than the limit and none is longer than `kKeyBytesMax`. Beyond the
/// limit it keeps a sample, uniform over distinct keys: those whose hash lies below a threshold. The index halves the threshold
/// each time it is full. A key is in it with all of its records or not at all, so facts about a kept key stay exact. The number
/// of all keys is known with a relative error of about 1 / sqrt(limit).
class KeyIndex {
  public:
    /// Longer keys are counted but not kept.
    static constexpr std::size_t kKeyBytesMax = 256;
    /// Most partitions remembered for one key; a further one replaces the partition used longest ago.
    static constexpr std::size_t kPlacementsMax = 4;
    static constexpr std::size_t kHeavyKeysMax = 64;
    /// Most steps remembered for one key; a further one replaces the oldest.
    static constexpr std::size_t kStepsMax = 8;
    /// Most past placements remembered for one key; a further one replaces the oldest.
    static constexpr std::size_t kPastMax = 8;

    /// At most `keys_max` >= 2 keys.
    explicit KeyIndex(std::size_t keys_max) : keys_max_(keys_max), heavy_(kHeavyKeysMax) {}

    struct Record {
        Bytes key;
        /// A hash of the key with 64 good bits.
        std::uint64_t key_hash = 0;
        PartitionIndex partition;
        std::int32_t epoch = 0;
        Offset offset;
        std::size_t size_bytes = 0;
        bool is_tombstone = false;
        /// Where its batch begins if that is transactional; kNoOffset otherwise.
        Offset transactional_batch = kNoOffset;
    };
    void add(const Record& record);

    /// All kept keys by hash. Keys with equal 64-bit hashes count as one.
    [[nodiscard]] const std::unordered_map<std::uint64_t, IndexedKey>& keys() const { return keys_; }
    [[nodiscard]] const IndexedKey* find(std::uint64_t key_hash) const;
    /// Former placements of a key that used several partitions within one epoch. The key's present placements no longer show
    /// them, because a later epoch wrote over them or they were forgotten. Empty for almost every key.
    [[nodiscard]] std::span<const PastPlacement> past(std::uint64_t key_hash) const;
    /// True if no past placement was lost: placements and past together show every key that lay in several partitions within one
    /// epoch, with the newest record of that epoch in each partition.
    [[nodiscard]] bool has_whole_past() const { return !lost_past_; }
    /// Calls `visit(const IndexedKey&, std::span<const KeyStep>)` for every key that was in several partitions. The steps are the
    /// first and the newest one between each two partitions, oldest first. The walk does not touch other keys.
    template <class Visit>
    void for_each_moved(Visit visit) const {
        for (const auto& [hash, steps] : steps_) {
            visit(keys_.at(hash), std::span<const KeyStep>(steps));
        }
    }
    /// True while every distinct key that was seen is in the index.
    [[nodiscard]] bool is_complete() const { return halvings_ == 0 && long_keys_ == 0; }
    /// The index keeps about one of this many keys.
    [[nodiscard]] std::int64_t sampling() const { return std::int64_t{1} << halvings_; }
    /// Distinct keys: exact when complete, else an estimate.
    [[nodiscard]] std::int64_t distinct_keys() const { return static_cast<std::int64_t>(keys_.size()) << halvings_; }
    /// For each of the `partition_count` partitions: distinct keys with records there, exact or estimated as above.
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
    void note_step(std::uint64_t key_hash, const KeyStep& step);
    /// Notes another record of the key in the partition of its newest one.
    void note_again(const Record& record);
    /// Keeps in `past_` what `losing` says about its epoch, before it is lost.
    void keep_past(std::uint64_t key_hash, const std::vector<KeyPlacement>& placements, const KeyPlacement& losing);
    void make_room(std::uint64_t key_hash, std::vector<KeyPlacement>& placements);
    [[nodiscard]] bool is_sampled(std::uint64_t hash) const { return halvings_ == 0 || hash >> (64 - halvings_) == 0; }

    std::size_t keys_max_;
    std::unordered_map<std::uint64_t, IndexedKey> keys_;
    std::unordered_map<std::uint64_t, std::vector<KeyStep>> steps_;
    std::unordered_map<std::uint64_t, std::vector<PastPlacement>> past_;
    bool lost_past_ = false;
    HeavyHitters heavy_;
    int halvings_ = 0;
    std::uint64_t records_ = 0;
    std::int64_t bytes_ = 0;
    std::int64_t long_keys_ = 0;
};

}  // namespace partita::insight
