#include "broker/insight/keys/producer_evidence.h"

#include <algorithm>
#include <map>

#include "broker/insight/keys/placement_odds.h"
#include "protocol/assert.h"

namespace partita::insight {
namespace {

using partitioners::Family;
using partitioners::FamilySet;

/// After the first decision, the evidence is judged again each time this many new keys came.
constexpr std::int32_t kKeysBetweenLessons = 20;

bool explains(std::int32_t keys, std::int32_t all) {
    return static_cast<double>(keys) >= ProducerEvidence::kShareToDecide * static_cast<double>(all);
}

}  // namespace

std::string_view to_string(KeyHabit habit) {
    switch (habit) {
        case KeyHabit::no_keys:
            return "sends no keys";
        case KeyHabit::undecided:
            return "too few keys to tell";
        case KeyHabit::hashes:
            return "hashes keys";
        case KeyHabit::hashes_old_count:
            return "hashes keys by an old count";
        case KeyHabit::mixed:
            return "two partitioners behind one name";
        case KeyHabit::ignores_keys:
            return "ignores keys";
        case KeyHabit::one_partition:
            return "writes to one partition";
        case KeyHabit::explicit_or_custom:
            return "chooses partitions explicitly, or by a custom partitioner";
        case KeyHabit::keyless_one_partition:
            return "sends no keys, and everything to one partition";
        case KeyHabit::unknown:
            return "no known partitioner";
    }
    return "";
}

ProducerEvidence::ProducerEvidence(std::span<const std::int32_t> counts) { set_counts(counts); }

void ProducerEvidence::set_counts(std::span<const std::int32_t> counts) {
    PARTITA_ASSERT(!counts.empty(), "a topic has a partition count");
    counts_used_ = std::min(counts.size(), kCountsMax);
    std::copy_n(counts.begin(), counts_used_, counts_.begin());
}

void ProducerEvidence::expand(std::span<const std::int32_t> counts) {
    learn();
    set_counts(counts);
    key_hashes_.clear();
    placements_.clear();
    oldest_ = 0;
    keys_since_learning_ = 0;
    returns_ = 0;
    stay_bytes_ = 0;
}

bool ProducerEvidence::is_switch(const Placement& before, const Placement& after) const {
    for (std::size_t old = 1; old < counts_used_; ++old) {
        for (std::size_t newer = 0; newer < old; ++newer) {
            if (!(before.families[old] & after.families[newer]).is_empty()) {
                return true;
            }
        }
    }
    return false;
}

template <class Seen>
void ProducerEvidence::note_again(PartitionIndex partition, std::uint32_t visit, Placement& known, Seen&& seen) {
    known.is_repeated = true;
    if (known.partition == partition) {
        if (known.visit != visit && last_return_ != visit) {
            ++returns_;
            last_return_ = visit;
        }
        known.visit = visit;
        return;
    }
    // A known partitioner may now put the key elsewhere: then the key follows the new count and is not scattered.
    Placement moved = seen();
    const bool is_explained =
        known_.is_empty()
            ? is_switch(known, moved)
            : std::ranges::any_of(moved.families, [&](FamilySet families) { return !(families & known_).is_empty(); });
    if (is_explained) {
        moved.is_repeated = true;
        moved.is_scattered = known.is_scattered;
        known = moved;
    } else {
        known.is_scattered = true;
        returns_ = 0;
    }
}

CountProof ProducerEvidence::observe(const Record& record) {
    ++keyed_records_;
    note_stay(record.partition, record.size_bytes);
    if (counts_[0] < 2) {
        return CountProof::none;
    }
    const auto known = std::ranges::find(key_hashes_, record.key_hash);
    if (known == key_hashes_.end()) {
        note(record.key_hash, place(record));
    } else {
        note_again(record.partition, record.visit, placements_[static_cast<std::size_t>(known - key_hashes_.begin())],
                   [&] { return place(record); });
    }
    return prove(record.key, record.partition);
}

void ProducerEvidence::observe_keyless(PartitionIndex partition, std::size_t size_bytes) {
    ++keyless_records_;
    note_stay(partition, size_bytes);
}

void ProducerEvidence::absorb(const ProducerEvidence& other) {
    keyed_records_ += other.keyed_records_;
    keyless_records_ += other.keyless_records_;
    for (std::size_t index = 0; index < other.placements_.size(); ++index) {
        const Placement& seen = other.placements_[index];
        const auto known = std::ranges::find(key_hashes_, other.key_hashes_[index]);
        if (known == key_hashes_.end()) {
            note(other.key_hashes_[index], seen);
        } else {
            Placement& mine = placements_[static_cast<std::size_t>(known - key_hashes_.begin())];
            note_again(seen.partition, seen.visit, mine, [&] { return seen; });
            mine.is_scattered |= seen.is_scattered;
        }
    }
    if (other.stay_bytes_ > 0) {
        note_stay(other.stay_, static_cast<std::size_t>(other.stay_bytes_));
    }
}

void ProducerEvidence::note_stay(PartitionIndex partition, std::size_t size_bytes) {
    if (partition != stay_) {
        stay_ = partition;
        stay_bytes_ = 0;
    }
    stay_bytes_ += static_cast<std::int64_t>(size_bytes);
}

ProducerEvidence::Placement ProducerEvidence::place(const Record& record) const {
    Placement placement{.partition = record.partition, .visit = record.visit};
    for (std::size_t slot = 0; slot < counts_used_; ++slot) {
        // No family at a count explains a partition that did not exist at that count.
        if (counts_[slot] >= 2 && record.partition.value < counts_[slot]) {
            placement.families[slot] = partitioners::families_that_agree(record.key, record.partition, counts_[slot]);
        }
    }
    return placement;
}

void ProducerEvidence::note(std::uint64_t key_hash, const Placement& placement) {
    if (placements_.size() < kKeysMax) {
        key_hashes_.push_back(key_hash);
        placements_.push_back(placement);
    } else {
        key_hashes_[oldest_] = key_hash;
        placements_[oldest_] = placement;
        oldest_ = (oldest_ + 1) % kKeysMax;
    }
    ++keys_since_learning_;
    const auto keys = static_cast<std::int32_t>(placements_.size());
    if (keys >= kKeysToDecide && (known_.is_empty() || keys_since_learning_ >= kKeysBetweenLessons)) {
        learn();
    }
}

void ProducerEvidence::learn() {
    keys_since_learning_ = 0;
    const ProducerVerdict now = verdict();
    if (now.habit != KeyHabit::hashes && now.habit != KeyHabit::hashes_old_count) {
        return;
    }
    // Families that form one class at one count may differ at another. A producer that has changed starts anew.
    const FamilySet both = known_ & now.families;
    known_ = both.is_empty() ? now.families : both;
}

CountProof ProducerEvidence::prove(Bytes key, PartitionIndex partition) const {
    if (known_.is_empty() || counts_used_ < 2) {
        return CountProof::none;
    }
    const FamilySet now = partitioners::families_that_agree(key, partition, counts_[0], known_);
    // Check all old counts that the partition fits: if one of them explains it, it does not prove the new one.
    bool is_explained_by_old = false;
    bool is_surely_old = false;
    for (std::size_t slot = 1; slot < counts_used_; ++slot) {
        const FamilySet old = partition.value < counts_[slot]
                                  ? partitioners::families_that_agree(key, partition, counts_[slot], known_)
                                  : FamilySet();
        is_explained_by_old |= !old.is_empty();
        is_surely_old |= old == known_;
    }
    if (now.is_empty()) {
        return is_surely_old ? CountProof::old_count : CountProof::none;
    }
    return is_explained_by_old ? CountProof::none : CountProof::new_count;
}

ProducerEvidence::Explanation ProducerEvidence::best_explanation(const Explanation* excluded) const {
    std::array<std::array<std::int32_t, partitioners::kFamilyCount>, kCountsMax> tally{};
    for (const Placement& placement : placements_) {
        if (excluded != nullptr && !(placement.families[excluded->slot] & excluded->families).is_empty()) {
            continue;
        }
        for (std::size_t slot = 0; slot < counts_used_; ++slot) {
            placement.families[slot].for_each([&](Family family) { ++tally[slot][static_cast<std::size_t>(family)]; });
        }
    }
    // Among equal explanations the newest count wins, because all counts explain a key that stays.
    Explanation best;
    for (std::size_t slot = 0; slot < counts_used_; ++slot) {
        const std::int32_t most = std::ranges::max(tally[slot]);
        if (most > best.keys) {
            best = {.slot = slot, .keys = most};
        }
    }
    for (std::size_t index = 0; best.keys > 0 && index < partitioners::kFamilyCount; ++index) {
        if (tally[best.slot][index] == best.keys) {
            best.families.insert(static_cast<Family>(index));
        }
    }
    return best;
}

bool ProducerEvidence::is_one_class(const Explanation& explanation) const {
    bool is_one = true;
    explanation.families.for_each([&](Family family) {
        is_one &= partitioners::are_equivalent(explanation.families.first(), family, counts_[explanation.slot]);
    });
    return is_one;
}

bool ProducerEvidence::is_in_one_partition() const {
    return std::ranges::all_of(placements_, [&](const Placement& placement) {
        return placement.partition == placements_.front().partition && !placement.is_scattered;
    });
}

bool ProducerEvidence::is_scattered() const {
    const auto repeated = std::ranges::count_if(placements_, &Placement::is_repeated);
    const auto scattered = std::ranges::count_if(placements_, &Placement::is_scattered);
    return repeated >= kRepeatsToDecide && static_cast<double>(scattered) >= kScatteredShare * static_cast<double>(repeated);
}

bool ProducerEvidence::do_keys_keep_their_partition() const {
    std::int32_t repeated = 0;
    std::int32_t scattered = 0;
    std::map<PartitionIndex, std::int32_t> keys_by_partition;
    std::int32_t most = 0;
    for (const Placement& placement : placements_) {
        repeated += placement.is_repeated ? 1 : 0;
        scattered += placement.is_scattered ? 1 : 0;
        most = std::max(most, ++keys_by_partition[placement.partition]);
    }
    // A producer that ignores keys hits its most used partition with the probability that this share shows.
    const double share = static_cast<double>(most) / static_cast<double>(placements_.size());
    return explains(repeated - scattered, repeated) && are_returns_beyond_chance(returns_, share);
}

bool ProducerEvidence::is_stay_chosen() const {
    // A producer that knows an old count chooses among fewer partitions; with one partition it has no choice.
    std::int32_t fewest = counts_[0];
    for (std::size_t slot = 0; slot < counts_used_; ++slot) {
        if (stay_.value < counts_[slot]) {
            fewest = std::min(fewest, counts_[slot]);
        }
    }
    return is_stay_beyond_chance(stay_bytes_, fewest);
}

ProducerVerdict ProducerEvidence::verdict() const {
    ProducerVerdict verdict;
    verdict.keys = static_cast<std::int32_t>(placements_.size());
    if (keyed_records_ == 0) {
        if (is_stay_chosen()) {
            verdict.habit = KeyHabit::keyless_one_partition;
        }
        return verdict;
    }
    verdict.habit = KeyHabit::undecided;
    const Explanation best = best_explanation(nullptr);
    verdict.families = best.families;
    verdict.count = counts_[best.slot];
    verdict.agreeing_keys = best.keys;
    if (verdict.keys < kKeysToDecide) {
        return verdict;
    }
    // Nothing explains round robin, except for the first look at each key. So scattered keys come before families.
    if (explains(best.keys, verdict.keys) && !is_scattered()) {
        if (is_one_class(best)) {
            verdict.habit = best.slot == 0 ? KeyHabit::hashes : KeyHabit::hashes_old_count;
        }
        return verdict;
    }
    if (is_in_one_partition()) {
        verdict.habit = is_stay_chosen() ? KeyHabit::explicit_or_custom : KeyHabit::one_partition;
        return verdict;
    }
    const Explanation second = best_explanation(&best);
    const std::int32_t rest = verdict.keys - best.keys;
    if (best.keys >= kKeysToDecide && rest >= kKeysToDecide && explains(second.keys, rest) && is_one_class(best) &&
        is_one_class(second)) {
        verdict.habit = KeyHabit::mixed;
        verdict.second_families = second.families;
        verdict.second_count = counts_[second.slot];
        return verdict;
    }
    verdict.habit = is_scattered()                   ? KeyHabit::ignores_keys
                    : do_keys_keep_their_partition() ? KeyHabit::explicit_or_custom
                                                     : KeyHabit::unknown;
    return verdict;
}

}  // namespace partita::insight
