#include "broker/insight/keys/placement_evidence.h"

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "broker/insight/keys/placement_odds.h"
#include "protocol/assert.h"

namespace partita::insight {
namespace {

using partitioners::Family;
using partitioners::FamilySet;

/// Share of the keys with several records that must lie scattered before keys count as ignored.
constexpr double kScatteredShareMin = 0.5;

std::string percent(std::int64_t part, std::int64_t whole) {
    const double share = whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
    // 100 % appears only if nothing is missing.
    std::string text = std::to_string(part == whole ? 100.0 : std::min(share, 99.9));
    text.resize(text.find('.') + 2);
    if (text.ends_with(".0")) {
        text.resize(text.size() - 2);
    }
    return text + " %";
}

/// For one key: the families that put it where it was first seen.
struct Observation {
    FamilySet families;
};

using Tally = std::array<std::int64_t, partitioners::kFamilyCount>;

Tally tally(std::span<const Observation> observations, FamilySet excluding) {
    Tally counts{};
    for (const Observation& observation : observations) {
        if (!(observation.families & excluding).is_empty()) {
            continue;
        }
        observation.families.for_each([&](Family family) { ++counts[static_cast<std::size_t>(family)]; });
    }
    return counts;
}

struct Winner {
    Family family;
    std::int64_t keys = 0;
    FamilySet equals;
};

Winner best_of(const Tally& counts) {
    const auto position = std::ranges::max_element(counts);
    Winner winner{static_cast<Family>(position - counts.begin()), *position, {}};
    for (std::size_t index = 0; index < counts.size(); ++index) {
        if (counts[index] == *position) {
            winner.equals.insert(static_cast<Family>(index));
        }
    }
    return winner;
}

bool are_one_class(const Winner& winner, std::span<const std::int32_t> counts) {
    bool one = true;
    winner.equals.for_each([&](Family family) {
        one = one && std::ranges::all_of(
                         counts, [&](std::int32_t count) { return partitioners::are_equivalent(winner.family, family, count); });
    });
    return one;
}

bool explains(std::int64_t keys, std::int64_t all) {
    return static_cast<double>(keys) >= kEvidenceShareMin * static_cast<double>(all);
}

/// Each key with several records counts as at least one return. The log does not show whether the producer wrote to other
/// partitions in between. A log that a producer wrote key by key while it ignored keys would look the same.
bool do_keys_keep_their_partition(const PlacementEvidence& evidence) {
    const double share = static_cast<double>(evidence.keys_in_fullest_partition) / static_cast<double>(evidence.keys);
    return evidence.repeated_keys >= kEvidenceKeysMin &&
           explains(evidence.repeated_keys - evidence.scattered_keys, evidence.repeated_keys) &&
           are_returns_beyond_chance(evidence.repeated_keys, share);
}

/// `counts` are those that carry evidence; `fewest` is the smallest count that the topic ever had.
void judge(PlacementEvidence& evidence, std::span<const Observation> observations, std::span<const std::int32_t> counts,
           std::int32_t fewest) {
    const Winner best = best_of(tally(observations, {}));
    evidence.agreeing_keys = best.keys;
    if (explains(best.keys, evidence.keys)) {
        if (evidence.keys < kEvidenceKeysMin || !are_one_class(best, counts)) {
            evidence.kind = PlacementKind::too_few_keys;
            evidence.alternatives = best.equals;
            return;
        }
        evidence.kind = PlacementKind::decided;
        evidence.family = best.family;
        evidence.alternatives = best.equals;
        return;
    }
    if (static_cast<double>(evidence.scattered_keys) > kScatteredShareMin * static_cast<double>(evidence.repeated_keys) &&
        evidence.repeated_keys >= kEvidenceKeysMin) {
        evidence.kind = PlacementKind::keys_ignored;
        return;
    }
    // Keys that the best family does not explain may have a family of their own.
    const std::int64_t rest = evidence.keys - best.keys;
    const Winner second = best_of(tally(observations, best.equals));
    if (rest >= kEvidenceKeysMin && best.keys >= kEvidenceKeysMin && explains(second.keys, rest)) {
        evidence.kind = PlacementKind::mixed;
        evidence.family = best.family;
        evidence.alternatives = best.equals;
        evidence.second = second.family;
        evidence.second_keys = second.keys;
        return;
    }
    if (evidence.keys < kEvidenceKeysMin) {
        evidence.kind = PlacementKind::too_few_keys;
    } else if (evidence.keys_in_fullest_partition == evidence.keys && evidence.scattered_keys == 0) {
        // At an earlier count a producer chooses among fewer partitions; with one partition it has no choice.
        const bool is_chosen = is_stay_beyond_chance(evidence.bytes, fewest);
        evidence.kind = is_chosen ? PlacementKind::explicit_or_custom : PlacementKind::all_in_one_partition;
    } else {
        evidence.kind = do_keys_keep_their_partition(evidence) ? PlacementKind::explicit_or_custom : PlacementKind::unknown;
    }
}

}  // namespace

FamilySet PlacementEvidence::parting_at(std::int32_t partition_count) const {
    FamilySet parting;
    if (!family) {
        return parting;
    }
    alternatives.for_each([&](Family other) {
        if (!partitioners::are_equivalent(*family, other, partition_count)) {
            parting.insert(other);
        }
    });
    return parting;
}

bool is_scattered(const KeyTable& keys, const KeyEntry& entry) {
    if (entry.first.next == 0) {
        return false;
    }
    bool scattered = false;
    keys.for_each_placement(entry, [&](const Placement& one) {
        keys.for_each_placement(entry, [&](const Placement& other) {
            scattered = scattered || (one.epoch == other.epoch && one.partition != other.partition);
        });
    });
    return scattered;
}

PlacementEvidence judge_placements(const KeyTable& keys, std::span<const std::int32_t> counts) {
    PARTITA_ASSERT(!counts.empty(), "a topic has a partition count");
    PlacementEvidence evidence;
    if (keys.entries().empty()) {
        return evidence;
    }
    // Entries are in the order of first appearance until the table samples; steps spread the look over all of them.
    const std::size_t step = std::max<std::size_t>(1, keys.entries().size() / kEvidenceKeysMax);
    std::vector<Observation> observations;
    observations.reserve(std::min(keys.entries().size(), 2 * kEvidenceKeysMax));
    std::map<PartitionIndex, std::int64_t> keys_by_partition;
    for (std::size_t index = 0; index < keys.entries().size(); index += step) {
        const KeyEntry& entry = keys.entries()[index];
        const std::int32_t count = counts[static_cast<std::size_t>(entry.first.epoch)];
        if (entry.records > 1) {
            ++evidence.repeated_keys;
        }
        if (is_scattered(keys, entry)) {
            ++evidence.scattered_keys;
        }
        // There is only one partition, or the key is empty and some clients treat it as no key: no evidence.
        if (count < 2 || entry.key.empty()) {
            continue;
        }
        evidence.bytes += entry.bytes;
        std::int64_t& keys_there = keys_by_partition[entry.first.partition];
        evidence.keys_in_fullest_partition = std::max(evidence.keys_in_fullest_partition, ++keys_there);
        observations.push_back({partitioners::families_that_agree(as_bytes(entry.key), entry.first.partition, count)});
    }
    evidence.keys = static_cast<std::int64_t>(observations.size());
    if (observations.empty()) {
        evidence.kind = std::ranges::all_of(counts, [](std::int32_t count) { return count < 2; }) ? PlacementKind::one_partition
                                                                                                  : PlacementKind::too_few_keys;
        return evidence;
    }
    std::vector<std::int32_t> telling(counts.begin(), counts.end());
    std::erase_if(telling, [](std::int32_t count) { return count < 2; });
    judge(evidence, observations, telling, std::ranges::min(counts));
    return evidence;
}

std::string partitioner_name(const PlacementEvidence& evidence) {
    switch (evidence.kind) {
        case PlacementKind::no_keys:
            return "none";
        case PlacementKind::decided:
        case PlacementKind::given:
            return std::string(partitioners::definition(*evidence.family).id);
        case PlacementKind::mixed:
            return "mixed";
        case PlacementKind::keys_ignored:
            return "keys-ignored";
        case PlacementKind::all_in_one_partition:
            return "one-partition";
        case PlacementKind::explicit_or_custom:
            return "explicit-or-custom";
        case PlacementKind::one_partition:
        case PlacementKind::too_few_keys:
        case PlacementKind::unknown:
            return "unknown";
    }
    return "unknown";
}

std::string explain(const PlacementEvidence& evidence, std::int32_t old_count, std::int32_t new_count) {
    const auto id = [](Family family) { return std::string(partitioners::definition(family).id); };
    const std::string keys = std::to_string(evidence.keys);
    switch (evidence.kind) {
        case PlacementKind::no_keys:
            return "no record that was read has a key";
        case PlacementKind::one_partition:
            return "with one partition every partitioner agrees; name yours with --partitioner";
        case PlacementKind::given:
            return "given by the request, not detected in the data";
        case PlacementKind::decided: {
            std::string text = id(*evidence.family) + " explains " + percent(evidence.agreeing_keys, evidence.keys) + " of " +
                               keys + " distinct keys (" + std::string(partitioners::definition(*evidence.family).used_by) + ")";
            if (evidence.alternatives.count() > 1) {
                text += "; at " + std::to_string(old_count) + " partitions it looks the same as ";
                FamilySet others = evidence.alternatives;
                others.erase(*evidence.family);
                text += to_string(others);
                const FamilySet parting = evidence.parting_at(new_count);
                text += parting.is_empty() ? ", and not at " + std::to_string(new_count) + " either"
                                           : ", at " + std::to_string(new_count) + " they differ";
            }
            return text;
        }
        case PlacementKind::too_few_keys:
            return "only " + keys + " distinct " + (evidence.keys == 1 ? "key" : "keys") + "; " +
                   std::to_string(kEvidenceKeysMin) + " are needed" +
                   (evidence.alternatives.is_empty() ? std::string() : "; possible so far: " + to_string(evidence.alternatives));
        case PlacementKind::mixed:
            return "two partitioners: " + id(*evidence.family) + " explains " + std::to_string(evidence.agreeing_keys) + " of " +
                   keys + " distinct keys, " + id(*evidence.second) + " " + std::to_string(evidence.second_keys) +
                   " of the others";
        case PlacementKind::keys_ignored:
            return std::to_string(evidence.scattered_keys) + " of " + std::to_string(evidence.repeated_keys) +
                   " keys with several records lie in several partitions: the partition does not depend on the key";
        case PlacementKind::all_in_one_partition:
            return "all " + keys +
                   " distinct keys lie in one partition, where no known partitioner puts them: the producer chose it explicitly, "
                   "or it ignores keys and has not left it yet";
        case PlacementKind::explicit_or_custom:
            return "no known partitioner explains the placement of " + keys + " distinct keys (the best one " +
                   percent(evidence.agreeing_keys, evidence.keys) + "), and " +
                   (evidence.keys_in_fullest_partition == evidence.keys
                        ? "all of them lie in one partition"
                        : std::to_string(evidence.repeated_keys - evidence.scattered_keys) + " of " +
                              std::to_string(evidence.repeated_keys) + " repeated keys kept their partition") +
                   ": the producer chooses partitions explicitly, or by a custom partitioner";
        case PlacementKind::unknown:
            return "no known partitioner explains the placement of " + keys + " distinct keys (the best one " +
                   percent(evidence.agreeing_keys, evidence.keys) + "); name yours with --partitioner";
    }
    return {};
}

}  // namespace partita::insight
