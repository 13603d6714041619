#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "broker/insight/keys/key_table.h"
#include "broker/partitioners/families.h"

/// Finds the partitioner that placed the keys, from a table of keys.
namespace partita::insight {

/// The conclusion from the placements of keys about the producers.
enum class PlacementKind : std::uint8_t {
    /// No record carries a key.
    no_keys,
    /// The topic has only ever had one partition: every partitioner agrees.
    one_partition,
    /// One family (or families that cannot be told apart here) explains the placements.
    decided,
    /// The caller named the family.
    given,
    /// Fewer than `kEvidenceKeysMin` keys, or several families that agree by chance.
    too_few_keys,
    /// Each of two families explains keys that the other does not.
    mixed,
    /// Keys lie in several partitions each: they do not decide the partition.
    keys_ignored,
    /// All keys lie in one of several partitions, and no family explains that. Either a producer chose the partition, or a
    /// producer that ignores keys stayed there.
    all_in_one_partition,
    /// Repeated keys returned to the same partition, or all keys went to one, beyond chance (placement_odds.h), and no family
    /// explains that. Producers gave partitions explicitly, or used a partitioner that is not known here.
    explicit_or_custom,
    /// No known rule explains the placements.
    unknown,
};

/// Distinct keys that are needed before a class is declared. A sibling rule of the same hash survives n keys with probability
/// (1/2 + 1/2N)^n: below one in ten million for 40 keys even at N = 3.
inline constexpr std::int64_t kEvidenceKeysMin = 40;
/// Share of the keys that a class must explain; a few explicit partitions do not hide the truth.
inline constexpr double kEvidenceShareMin = 0.99;
/// Most keys that are looked at.
inline constexpr std::size_t kEvidenceKeysMax = 20'000;

struct PlacementEvidence {
    PlacementKind kind = PlacementKind::no_keys;
    /// Set for `decided`, `given`, and `mixed` (the family with more keys).
    std::optional<partitioners::Family> family;
    /// Families that place every key as `family` does at the old count, itself included.
    partitioners::FamilySet alternatives;
    /// For `mixed`: the other family.
    std::optional<partitioners::Family> second;
    /// Number of distinct keys looked at, and of those that `family` (and `second`) explains.
    std::int64_t keys = 0;
    std::int64_t agreeing_keys = 0;
    std::int64_t second_keys = 0;
    /// Keys with records in several partitions within one epoch, and keys with more than one record.
    std::int64_t scattered_keys = 0;
    std::int64_t repeated_keys = 0;
    /// Number of distinct keys in the partition that has most of them, and the bytes of all keys that were looked at.
    std::int64_t keys_in_fullest_partition = 0;
    std::int64_t bytes = 0;

    /// The alternatives that place some key differently from `family` at that count.
    [[nodiscard]] partitioners::FamilySet parting_at(std::int32_t partition_count) const;
    [[nodiscard]] bool has_family() const { return family.has_value() && kind != PlacementKind::mixed; }
};

/// `counts[e]` is the partition count in epoch e; placements name their epoch. At least one.
[[nodiscard]] PlacementEvidence judge_placements(const KeyTable& keys, std::span<const std::int32_t> counts);

/// True if the key has records in two partitions within one epoch.
[[nodiscard]] bool is_scattered(const KeyTable& keys, const KeyEntry& entry);

/// A name for scripts: the family's id, "mixed", "keys-ignored", "one-partition", "explicit-or-custom", "unknown", "none".
[[nodiscard]] std::string partitioner_name(const PlacementEvidence& evidence);
/// One or two sentences.
[[nodiscard]] std::string explain(const PlacementEvidence& evidence, std::int32_t old_count, std::int32_t new_count);

}  // namespace partita::insight
