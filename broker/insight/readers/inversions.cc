#include "broker/insight/readers/inversions.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "broker/insight/readers/auto_resets.h"
#include "broker/insight/readers/reader_facts.h"

namespace partita::insight {
namespace {

/// `counts` ascend.
bool is_explained(partitioners::FamilySet families, Bytes key, const KeyStep& step, std::span<const std::int32_t> counts) {
    bool found = false;
    families.for_each([&](partitioners::Family family) {
        const auto home_at = [&](std::int32_t count) { return partitioners::partition_of(family, key, count); };
        const auto earlier = std::ranges::find(counts, step.from, home_at);
        found = found || (earlier != counts.end() && std::find_if(earlier + 1, counts.end(), [&](std::int32_t count) {
                                                         return home_at(count) == step.to;
                                                     }) != counts.end());
    });
    return found;
}

/// The fate of two records together: both stand, or one is aborted, or it is not known yet.
RecordFate fate_of_both(const ReaderFacts& facts, PartitionIndex from, Offset earlier, PartitionIndex to, Offset later) {
    if (facts.fates == nullptr) {
        return RecordFate::stands;
    }
    const RecordFate one = facts.fates->of(from, earlier);
    const RecordFate other = facts.fates->of(to, later);
    if (one == RecordFate::aborted || other == RecordFate::aborted) {
        return RecordFate::aborted;
    }
    return one == RecordFate::undecided ? one : other;
}

}  // namespace

std::vector<MovedKey> growth_steps(const KeyIndex& keys, partitioners::FamilySet families, std::span<const std::int32_t> counts) {
    std::vector<MovedKey> moved;
    keys.for_each_moved([&](const IndexedKey& key, std::span<const KeyStep> steps) {
        MovedKey of_growth;
        for (const KeyStep& step : steps) {
            if (step.is_with_growth || is_explained(families, as_bytes(key.key), step, counts)) {
                of_growth.steps.push_back(step);
            }
        }
        if (of_growth.steps.empty()) {
            return;
        }
        of_growth.key = key.key;
        moved.push_back(std::move(of_growth));
    });
    return moved;
}

// A group that began behind the newer record was not given it (H20), and passed nothing.
RecordFate Inversions::fate_of(const std::string& group, const Proof& proof, const ReaderFacts& facts, const AutoResets& resets) {
    const RecordFate fate = fate_of_both(facts, proof.from, proof.earlier, proof.to, proof.later);
    if (fate == RecordFate::aborted || !proof.is_by_first) {
        return fate;
    }
    // In an old partition nobody follows where a group begins. If it was handed the record, OrderWatch knows.
    if (growth_of(facts.growths, proof.to) == nullptr) {
        return RecordFate::aborted;
    }
    switch (resets.delivery_of(group, proof.to, proof.later)) {
        case AutoResets::Delivery::skipped:
            return RecordFate::aborted;
        case AutoResets::Delivery::undecided:
            return RecordFate::undecided;
        case AutoResets::Delivery::given:
            break;
    }
    return fate;
}

void Inversions::on_commit(std::string_view group, std::span<const Commit> commits, const Positions* before,
                           std::uint64_t keys_sent) {
    if (waiting_ + commits.size() > kAdvancesMax) {
        ++uncounted_;
        return;
    }
    waiting_ += commits.size();
    requests_.push_back({std::string(group),
                         {commits.begin(), commits.end()},
                         before == nullptr ? std::nullopt : std::optional(*before),
                         keys_sent});
}

Inversions::Known& Inversions::known_of(const std::string& group) {
    const auto known = positions_.find(group);
    if (known != positions_.end()) {
        return known->second;
    }
    if (positions_.size() == kGroupsMax || position_count_ >= kPositionsMax) {
        position_count_ -= positions_.begin()->second.positions.size();
        positions_.erase(positions_.begin());
    }
    return positions_[group];
}

std::vector<Inversions::Crossing> Inversions::crossings(const ReaderFacts& facts) {
    std::vector<Crossing> all;
    for (const MovedKey& key : facts.moved_keys) {
        for (const KeyStep& step : key.steps) {
            all.push_back({step.to, step.later, step.from, step.earlier, step.before_earlier, key.key});
            for (const Offset later : step.again) {
                if (later == kNoOffset) {
                    break;
                }
                all.push_back({step.to, later, step.from, step.earlier, step.before_earlier, key.key});
            }
        }
    }
    std::ranges::sort(all, {}, [](const Crossing& crossing) { return std::tuple(crossing.to, crossing.later); });
    return all;
}

void Inversions::prove(const ReaderFacts& facts, const GroupIndex& groups, const AutoResets& resets,
                       const std::set<std::string, std::less<>>& of_several) {
    const auto waits =
        std::ranges::find_if(requests_, [&](const Request& request) { return request.keys_sent > facts.keys_seen; });
    std::vector<Request> requests(std::make_move_iterator(requests_.begin()), std::make_move_iterator(waits));
    requests_.erase(requests_.begin(), waits);
    for (const Request& request : requests) {
        waiting_ -= request.commits.size();
    }
    if (requests.empty()) {
        return;
    }
    const std::vector<Crossing> all = crossings(facts);
    for (const Request& request : requests) {
        Known& known = known_of(request.group);
        if (request.before && position_count_ + request.before->size() <= kPositionsMax) {
            for (const auto& [partition, offset] : *request.before) {
                position_count_ += known.positions.try_emplace(partition, Passed{offset, offset}).second ? 1 : 0;
            }
            known.is_complete = true;
        }
        // One request commits all of its partitions at once: none of them comes before another.
        std::vector<Advance> advances;
        const bool is_of_several = of_several.contains(request.group);
        for (const Commit& told : request.commits) {
            const auto [position, is_first] = known.positions.try_emplace(told.partition, Passed{Offset{0}, Offset{0}});
            position_count_ += is_first ? 1 : 0;
            Passed& passed = position->second;
            if (told.offset > passed.last) {
                advances.push_back({told.partition, passed.last, told.offset, is_first, is_of_several});
            }
            passed = {told.offset, std::max(passed.highest, told.offset)};
        }
        for (const Advance& advance : advances) {
            judge(request.group, known, advance, all, facts, groups, resets);
        }
    }
}

// A proof: the group committed beyond record b of a key in partition q while its commit in p was not beyond the key's record a,
// which came before b. The history of a group may have been forgotten for lack of room. Its position, if no request told it
// since, is the present one or was lower. So a record that it has not passed now was not passed at the time either.
void Inversions::judge(const std::string& group, const Known& known, const Advance& advance, std::span<const Crossing> crossings,
                       const ReaderFacts& facts, const GroupIndex& groups, const AutoResets& resets) {
    const auto place = [](const Crossing& crossing) { return std::pair(crossing.to, crossing.later); };
    auto crossing = std::ranges::lower_bound(crossings, std::pair(advance.partition, advance.before), {}, place);
    for (; crossing != crossings.end() && place(*crossing) < std::pair(advance.partition, advance.after); ++crossing) {
        // For a record that is gone by now, it cannot be said whether the group was given it before.
        if (crossing->later < offset_at(facts.log_starts, crossing->to)) {
            continue;
        }
        std::optional<Offset> position;
        if (const auto told = known.positions.find(crossing->from); told != known.positions.end()) {
            position = told->second.highest;
        } else if (const GroupFacts* now = groups.find(group); now != nullptr && !known.is_complete) {
            position = committed_of(*now, crossing->from);
        }
        if (!position) {
            continue;
        }
        for (const Offset earlier : {crossing->earlier, crossing->before_earlier}) {
            // A record that retention removed was not read late; it was not read at all.
            const bool is_late = *position <= earlier && offset_at(facts.log_starts, crossing->from) <= earlier;
            if (is_late) {
                keep_proof(group, crossing->key,
                           {.from = crossing->from,
                            .earlier = earlier,
                            .to = crossing->to,
                            .later = crossing->later,
                            .is_by_first = advance.is_first,
                            .is_of_several = advance.is_of_several},
                           facts, resets);
            }
        }
    }
}

void Inversions::keep_proof(const std::string& group, std::string_view key, Proof proof, const ReaderFacts& facts,
                            const AutoResets& resets) {
    const std::pair where(group, std::string(key));
    const auto kept = proofs_.find(where);
    if (kept != proofs_.end() && kept->second.front().fate == RecordFate::stands &&
        (!kept->second.front().is_of_several || proof.is_of_several)) {
        return;
    }
    proof.fate = fate_of(group, proof, facts, resets);
    if (proof.fate == RecordFate::aborted) {
        return;
    }
    if (kept == proofs_.end()) {
        if (proofs_.size() < kInvertedKeysMax) {
            proofs_.emplace(where, std::vector{proof});
        } else if (proof.fate == RecordFate::stands) {
            ++uncounted_;
        }
    } else if (proof.fate == RecordFate::stands) {
        // Proofs that may turn out void give way to one that stands, and those of several members to one of a single member.
        kept->second = {proof};
    } else if (kept->second.front().fate != RecordFate::stands && kept->second.size() < kUndecidedMax) {
        kept->second.push_back(proof);
    }
}

std::map<std::string, std::vector<Inversions::Proven>> Inversions::proven(const ReaderFacts& facts, const AutoResets& resets) {
    for (auto& [where, proofs] : proofs_) {
        for (Proof& proof : proofs) {
            if (proof.fate != RecordFate::undecided) {
                continue;
            }
            proof.fate = fate_of(where.first, proof, facts, resets);
        }
        std::erase_if(proofs, [&](const Proof& proof) {
            // If retention removes a record while its delivery is open, the answer will never be known.
            const bool is_gone = proof.earlier < offset_at(facts.log_starts, proof.from) ||
                                 (proof.fate != RecordFate::stands && proof.later < offset_at(facts.log_starts, proof.to));
            return proof.fate == RecordFate::aborted || is_gone;
        });
        const auto standing = std::ranges::find(proofs, RecordFate::stands, &Proof::fate);
        if (standing != proofs.end()) {
            proofs = {Proof(*standing)};
        }
    }
    std::erase_if(proofs_, [](const auto& entry) { return entry.second.empty(); });
    std::map<std::string, std::vector<Proven>> all;
    for (const auto& [where, proofs] : proofs_) {
        const Proof& proof = proofs.front();
        if (proof.fate == RecordFate::stands) {
            all[where.first].push_back({where.second, proof.from, proof.earlier, proof.to, proof.later, proof.is_of_several});
        }
    }
    return all;
}

void Inversions::add_groups_told(std::set<std::string>& groups) const {
    for (const auto& [where, proofs] : proofs_) {
        groups.insert(where.first);
    }
}

void Inversions::forget_group(const std::string& group) {
    std::erase_if(proofs_, [&](const auto& proof) { return proof.first.first == group; });
    std::erase_if(requests_, [&](const Request& request) {
        waiting_ -= request.group == group ? request.commits.size() : 0;
        return request.group == group;
    });
    if (const auto known = positions_.find(group); known != positions_.end()) {
        position_count_ -= known->second.positions.size();
        positions_.erase(known);
    }
}

}  // namespace partita::insight
