#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "protocol/types.h"

/// How producers place keys: a *family* is a hash of the serialized key and a rule that maps it to a partition. Two clients of
/// one family agree about every key and every count.
///
/// Pure: nothing here knows a topic, a log or a clock.
namespace partita::partitioners {

enum class Hash : std::uint8_t {
    murmur2,
    fnv1a,
    crc32,
    kjs_legacy,
    lookup3,
    phash2,
    h31,
    xxh32,
    xxh64,
    /// murmur2 of the key without its last 8 bytes: Kafka Streams appends the window to a key, and places the record by
    /// the key alone.
    murmur2_time_window,
    /// The same without the last 16 bytes: session windows.
    murmur2_session_window,
};
inline constexpr std::size_t kHashCount = 11;

/// How to map a hash to one of n partitions.
enum class Rule : std::uint8_t {
    /// (h & 0x7fffffff) % n: Java's toPositive.
    positive,
    /// h % n, unsigned.
    unsigned_,
    /// |h % n|, signed.
    signed_absolute,
};

/// Ids are constant: "murmur2-pos", "fnv1a-sabs" ...
enum class Family : std::uint8_t {
    murmur2_pos,
    murmur2_uns,
    murmur2_sabs,
    crc32_uns,
    crc32_pos,
    crc32_sabs,
    fnv1a_sabs,
    fnv1a_pos,
    fnv1a_uns,
    kjs_legacy_pos,
    lookup3_sabs,
    phash2_uns,
    h31_uns,
    xxh32_uns,
    xxh64_uns,
    murmur2_pos_time_window,
    murmur2_pos_session_window,
};
inline constexpr std::size_t kFamilyCount = 17;

struct FamilyDefinition {
    Family family;
    /// The name for people.
    std::string_view id;
    Hash hash;
    Rule rule;
    /// The clients of this family, in a few words.
    std::string_view used_by;
};

/// All families, in the order of the enum. Among families that explain the same keys this is also the order of likelihood.
[[nodiscard]] std::span<const FamilyDefinition> families();
[[nodiscard]] const FamilyDefinition& definition(Family family);
/// The family of an id; null for any other text (names of clients: see clients.h).
[[nodiscard]] std::optional<Family> family_by_id(std::string_view id);

/// The result if the family cannot have written the key: the window families need keys that are at least as long as their window.
inline constexpr PartitionIndex kNoPartition{-1};

[[nodiscard]] std::uint32_t hash_of(Hash hash, Bytes key);
/// False if no key of this length can have this hash.
[[nodiscard]] bool is_applicable(Hash hash, std::size_t key_size);
/// Requires `partition_count` >= 1.
[[nodiscard]] PartitionIndex apply(Rule rule, std::uint32_t hash, std::int32_t partition_count);

/// The family's partition for the key, with `partition_count` >= 1; kNoPartition if it cannot have written the key.
[[nodiscard]] PartitionIndex partition_of(Family family, Bytes key, std::int32_t partition_count);

/// A set of families: a value of four bytes.
class FamilySet {
  public:
    constexpr FamilySet() = default;
    [[nodiscard]] static constexpr FamilySet all() { return FamilySet((1u << kFamilyCount) - 1); }
    [[nodiscard]] static constexpr FamilySet of(Family family) { return FamilySet(bit(family)); }

    [[nodiscard]] constexpr bool contains(Family family) const { return (bits_ & bit(family)) != 0; }
    [[nodiscard]] constexpr bool is_empty() const { return bits_ == 0; }
    [[nodiscard]] constexpr int count() const { return std::popcount(bits_); }
    /// The first of the set; the set is not empty.
    [[nodiscard]] constexpr Family first() const { return static_cast<Family>(std::countr_zero(bits_)); }
    constexpr void insert(Family family) { bits_ |= bit(family); }
    constexpr void erase(Family family) { bits_ &= ~bit(family); }

    template <class Visit>
    constexpr void for_each(Visit visit) const {
        for (std::uint32_t rest = bits_; rest != 0; rest &= rest - 1) {
            visit(static_cast<Family>(std::countr_zero(rest)));
        }
    }

    friend constexpr FamilySet operator&(FamilySet a, FamilySet b) { return FamilySet(a.bits_ & b.bits_); }
    friend constexpr FamilySet operator|(FamilySet a, FamilySet b) { return FamilySet(a.bits_ | b.bits_); }
    friend constexpr bool operator==(FamilySet, FamilySet) = default;

  private:
    explicit constexpr FamilySet(std::uint32_t bits) : bits_(bits) {}
    static constexpr std::uint32_t bit(Family family) { return 1u << static_cast<unsigned>(family); }

    std::uint32_t bits_ = 0;
};

/// The families of `candidates` that put this key into this partition of `partition_count`. Computes each hash at most once, and
/// only if a candidate needs it.
[[nodiscard]] FamilySet families_that_agree(Bytes key, PartitionIndex partition, std::int32_t partition_count,
                                            FamilySet candidates = FamilySet::all());

/// True if both put every key into the same partition at this count, so that no observation distinguishes them. All rules of one
/// hash are equivalent at 1 and 2, positive and unsigned at every power of two, and all families at 1.
[[nodiscard]] bool are_equivalent(Family one, Family other, std::int32_t partition_count);
/// All families that are equivalent to this one at the count, itself included.
[[nodiscard]] FamilySet equivalence_class(Family family, std::int32_t partition_count);

/// "murmur2-pos or murmur2-uns": ids in the order of the enum. "none" for the empty set.
[[nodiscard]] std::string to_string(FamilySet set);

}  // namespace partita::partitioners
