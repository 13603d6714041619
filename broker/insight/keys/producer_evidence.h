#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "broker/partitioners/families.h"
#include "protocol/types.h"

/// The places where one producer puts its keys, and the conclusions from them.
///
/// The evidence is the last `kKeysMax` distinct keys with the partitions in which they were seen. New keys replace old ones, so
/// that a change of the producer shows. The class never guesses. It declares a family when that explains 99 % of at least 40
/// distinct keys and no family outside of its equivalence class explains as many. An unrelated family survives n keys with
/// probability N^-n, a sibling rule of the same hash with (1/2 + 1/2N)^n: below 1e-7 for n = 40 and N >= 3. With two partitions
/// all rules of one hash are one class; with one partition nothing can be told.
///
/// A producer counts as choosing its partitions if three things hold. Keys keep their partitions, no family explains why, and a
/// producer that ignores keys would not have done the same by chance (placement_odds.h). An explicit partition and the
/// producer's own partitioner look alike, so they share one name.
namespace partita::insight {

/// A producer's way of using keys.
enum class KeyHabit : std::uint8_t {
    /// No record had a key.
    no_keys,
    /// Too few distinct keys, or several families that agree by chance.
    undecided,
    /// One equivalence class of families explains the keys at the count in force.
    hashes,
    /// One class explains them at an earlier count of the topic.
    hashes_old_count,
    /// Two classes (or one class at two counts), each with keys of its own: two programs share one name.
    mixed,
    /// The same keys go to several partitions.
    ignores_keys,
    /// Every key goes to one partition, and no family explains that. Either the producer chose the partition, or it ignores keys
    /// and has stayed there so far.
    one_partition,
    /// Every key keeps its partition, beyond chance, and no family explains that: the producer gives partitions
    /// explicitly, or uses a partitioner that is not known here.
    explicit_or_custom,
    /// Records without keys all go to one partition, beyond chance. The producer gives it explicitly, or its partitioner has one
    /// place for all records without a key.
    keyless_one_partition,
    /// None of the above: keys that never come twice, or too seldom.
    unknown,
};
/// A few words for people: "hashes keys", "ignores keys" ...
[[nodiscard]] std::string_view to_string(KeyHabit habit);
/// True if the producer decides on partitions by itself: it uses new ones only when its code says so.
[[nodiscard]] constexpr bool chooses_partitions(KeyHabit habit) {
    return habit == KeyHabit::one_partition || habit == KeyHabit::explicit_or_custom || habit == KeyHabit::keyless_one_partition;
}

struct ProducerVerdict {
    KeyHabit habit = KeyHabit::no_keys;
    /// For hashes, hashes_old_count and mixed: the class, that is, all families that explain the keys equally well.
    partitioners::FamilySet families;
    /// The count at which `families` explain the keys.
    std::int32_t count = 0;
    /// For mixed: the other class and its count.
    partitioners::FamilySet second_families;
    std::int32_t second_count = 0;
    /// Number of distinct keys looked at, and of those that `families` explains.
    std::int32_t keys = 0;
    std::int32_t agreeing_keys = 0;
};

/// The evidence of one record about the count that its producer uses.
enum class CountProof : std::uint8_t {
    /// None: the key does not move, or the partitioner is not known.
    none,
    /// Only a count from before the last expansion explains the partition.
    old_count,
    /// Only the count in force explains the partition.
    new_count,
};

class ProducerEvidence {
  public:
    /// Most distinct keys that are remembered.
    static constexpr std::size_t kKeysMax = 200;
    /// Distinct keys that are needed before anything is declared.
    static constexpr std::int32_t kKeysToDecide = 40;
    /// Former counts that a producer may still use.
    static constexpr std::size_t kOldCountsMax = 3;
    static constexpr double kShareToDecide = 0.99;
    /// "Ignores keys" needs this many repeated keys, and this share of them in another partition than before.
    static constexpr std::int32_t kRepeatsToDecide = 20;
    static constexpr double kScatteredShare = 1.0 / 3;

    /// `counts`: the topic's present count first, then its former ones, each smaller than the one before.
    explicit ProducerEvidence(std::span<const std::int32_t> counts);

    /// The topic grew. The knowledge of the partitioner stays; the places of keys are forgotten.
    void expand(std::span<const std::int32_t> counts);

    struct Record {
        /// Not empty: clients place empty keys by rules of their own.
        Bytes key;
        /// A hash that tells keys apart.
        std::uint64_t key_hash = 0;
        PartitionIndex partition;
        std::size_t size_bytes = 0;
        /// The sender's visit: the caller gives a new number each time the sender turns to another partition. A key that repeats
        /// within one visit is no evidence, because the producer may just stay there.
        std::uint32_t visit = 0;
    };
    CountProof observe(const Record& record);
    /// Takes a record without a key, or with an empty one.
    void observe_keyless(PartitionIndex partition, std::size_t size_bytes);
    /// Adds the evidence of another producer of the same name, as if this one had produced it before anything else. Both must be
    /// at the same counts.
    void absorb(const ProducerEvidence& other);

    [[nodiscard]] ProducerVerdict verdict() const;
    /// The families that every proof so far allows for this producer; empty without a proof.
    [[nodiscard]] partitioners::FamilySet known_families() const { return known_; }
    [[nodiscard]] std::int64_t keyless_records() const { return keyless_records_; }
    [[nodiscard]] std::int64_t keyed_records() const { return keyed_records_; }

  private:
    static constexpr std::size_t kCountsMax = 1 + kOldCountsMax;
    struct Placement {
        PartitionIndex partition;
        std::uint32_t visit = 0;
        bool is_repeated = false;
        bool is_scattered = false;
        std::array<partitioners::FamilySet, kCountsMax> families;
    };
    struct Explanation {
        partitioners::FamilySet families;
        std::size_t slot = 0;
        std::int32_t keys = 0;
    };

    void set_counts(std::span<const std::int32_t> counts);
    [[nodiscard]] Placement place(const Record& record) const;
    void note(std::uint64_t key_hash, const Placement& placement);
    /// True if one family explains both placements, `before` at an earlier count and `after` at a later one. The producer may
    /// have learned of the growth in between.
    [[nodiscard]] bool is_switch(const Placement& before, const Placement& after) const;
    /// Calls `seen` for the placement only if the key is in another partition than before, because that takes some work.
    template <class Seen>
    void note_again(PartitionIndex partition, std::uint32_t visit, Placement& known, Seen&& seen);
    void note_stay(PartitionIndex partition, std::size_t size_bytes);
    void learn();
    [[nodiscard]] CountProof prove(Bytes key, PartitionIndex partition) const;
    /// The family and count that explain most of the keys that `excluded` does not explain, and all families that explain as
    /// many.
    [[nodiscard]] Explanation best_explanation(const Explanation* excluded) const;
    [[nodiscard]] bool is_one_class(const Explanation& explanation) const;
    [[nodiscard]] bool is_in_one_partition() const;
    [[nodiscard]] bool is_scattered() const;
    /// True if repeated keys went to the same partition, beyond chance.
    [[nodiscard]] bool do_keys_keep_their_partition() const;
    /// True if more records came since the last change of partition than chance puts into one partition.
    [[nodiscard]] bool is_stay_chosen() const;

    std::array<std::int32_t, kCountsMax> counts_{};
    std::size_t counts_used_ = 0;
    partitioners::FamilySet known_;
    /// The hash of each key, parallel to `placements_`. It is a separate array, so that a search for a key reads little memory.
    std::vector<std::uint64_t> key_hashes_;
    std::vector<Placement> placements_;
    std::size_t oldest_ = 0;
    std::int32_t keys_since_learning_ = 0;
    std::int64_t keyless_records_ = 0;
    std::int64_t keyed_records_ = 0;
    /// Number of visits in a row that had keys of earlier visits and sent them to their old partition. For a producer that
    /// ignores keys, one visit is one draw, so all keys of a visit count once.
    std::int64_t returns_ = 0;
    std::uint32_t last_return_ = 0;
    /// The partition of the last record, and the bytes that went to it in a row.
    PartitionIndex stay_;
    std::int64_t stay_bytes_ = 0;
};

}  // namespace partita::insight
