// The conditions of the live hazards of producers and keys, one function each.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "broker/insight/findings/sentence_numbers.h"
#include "broker/insight/keys/topic_watch.h"

namespace partita::insight {
namespace {

using partitioners::Family;
using partitioners::FamilySet;

/// True if the log still holds the newest record of the placement.
template <class Placement>
bool is_in_log(const Placement& placement, std::span<const Offset> log_starts) {
    const auto index = static_cast<std::size_t>(placement.partition.value);
    return index >= log_starts.size() || placement.last >= log_starts[index];
}

/// Two partitions that hold records of the key from one epoch, the one that was used first in front; null if there are none.
std::optional<std::pair<PastPlacement, PastPlacement>> pair_of_one_epoch(const IndexedKey& key,
                                                                         std::span<const PastPlacement> past,
                                                                         std::span<const Offset> log_starts) {
    std::vector<PastPlacement> places(past.begin(), past.end());
    for (const KeyPlacement& placement : key.placements) {
        places.push_back({placement.epoch, placement.partition, placement.last});
    }
    std::erase_if(places, [&](const PastPlacement& place) { return !is_in_log(place, log_starts); });
    for (auto first = places.begin(); first != places.end(); ++first) {
        const auto second = std::find_if(std::next(first), places.end(), [&](const PastPlacement& other) {
            return other.epoch == first->epoch && other.partition != first->partition;
        });
        if (second != places.end()) {
            return std::pair(*first, *second);
        }
    }
    return std::nullopt;
}

/// Producers whose partitioners can be one and the same.
struct Camp {
    FamilySet families;
    std::vector<const ProducerIdentity*> members;
};

constexpr std::size_t kProducersNamedMax = 3;

/// Each name once: the reader does not need the number of producers with that name.
std::string names(const std::vector<const ProducerIdentity*>& producers) {
    std::vector<std::string> distinct;
    for (const ProducerIdentity* producer : producers) {
        std::string name = to_string(*producer);
        if (std::ranges::find(distinct, name) == distinct.end()) {
            distinct.push_back(std::move(name));
        }
    }
    std::string text;
    for (std::size_t i = 0; i < distinct.size() && i < kProducersNamedMax; ++i) {
        text += (i == 0 ? "" : ", ") + distinct[i];
    }
    if (distinct.size() > kProducersNamedMax) {
        text += " and " + std::to_string(distinct.size() - kProducersNamedMax) + " more";
    }
    return text;
}

void join_camp(std::vector<Camp>& camps, FamilySet families, const ProducerIdentity& producer) {
    for (Camp& camp : camps) {
        if (const FamilySet both = camp.families & families; !both.is_empty()) {
            camp.families = both;
            camp.members.push_back(&producer);
            return;
        }
    }
    camps.push_back({families, {&producer}});
}

std::string describe(const std::vector<Camp>& camps) {
    std::string text;
    for (const Camp& camp : camps) {
        text += (text.empty() ? "" : "; ") + names(camp.members) + ": " + partitioners::to_string(camp.families);
    }
    return text;
}

/// Precedes a number that other keys may add to.
std::string at_least(bool is_exact) { return is_exact ? "" : "at least "; }

/// For findings that rest on the newest record of a key: with a part of the records, that number is neither a lower nor an upper
/// bound, and the finding is only a possibility.
void doubt(Finding& finding, std::string_view title) {
    finding.severity = Severity::warn;
    finding.title = title;
    finding.condition = "judging from a part of the records, " + finding.condition +
                        "; a record that the broker had no time to look at may have deleted the value";
}

}  // namespace

bool TopicWatch::has_seen_everything(const TopicFacts& facts) const {
    std::int64_t written = 0;
    for (const Offset end : facts.log_ends) {
        written += end.value;
    }
    return keys_.is_complete() && records_ == written;
}

bool TopicWatch::has_seen_growth(const TopicFacts& facts) const {
    std::int64_t written = facts.old_partition_records;
    for (auto index = static_cast<std::size_t>(old_count()); index < facts.log_ends.size(); ++index) {
        written += facts.log_ends[index].value;
    }
    return records_since_growth_ == written;
}

void TopicWatch::count_keys(Finding& finding, const char* name, std::int64_t found, bool is_exact) const {
    finding.count = found * keys_.sampling();
    finding.numbers = {{name, found}, {"sampling", keys_.sampling()}, {"is_exact", is_exact ? 1 : 0}};
}

Subject TopicWatch::subject_of(const ProducerIdentity& identity, const Producer& producer) const {
    Subject subject{.topic = name_, .client_id = identity.client_id, .client_address = identity.address};
    if (identity.producer_id != kNoProducerId) {
        subject.producer_id = identity.producer_id;
    }
    if (identity.port != 0) {
        subject.client_port = identity.port;
    }
    subject.program = producer.program;
    subject.principal = identity.principal;
    return subject;
}

std::string TopicWatch::sampling_note() const {
    return keys_.sampling() == 1 ? "" : " (of a sample of one in " + std::to_string(keys_.sampling()) + " keys)";
}

// H04: a record with f(k) % N = p and f(k) % M != p after the expansion. Ends with a record that only M explains, or when the
// producer falls silent.
void TopicWatch::find_stale(std::vector<Finding>& findings, const TopicFacts& facts, TimestampMs now) const {
    const bool is_exact = epoch() > 0 && has_seen_growth(facts);
    for (const auto& [identity, producer] : producers_) {
        if (!producer.is_stale || !is_active(producer, now)) {
            continue;
        }
        const std::int64_t after_ms = producer.last_stale.value - epochs_.back().time.value;
        Finding finding = make_finding(HazardId::stale_producer, subject_of(identity, producer),
                                       name_of(identity, producer) + " still places keys as before the topic grew from " +
                                           std::to_string(old_count()) + " to " + std::to_string(count()) +
                                           " partitions: " + at_least(is_exact) +
                                           counted(producer.stale_records, "record proves", "records prove") +
                                           " it, the last one " + std::to_string(after_ms / 1000) + " s after the expansion",
                                       producer.stale_records);
        finding.numbers = {{"stale_records", producer.stale_records},
                           {"last_proof_after_ms", after_ms},
                           {"old_count", old_count()},
                           {"new_count", count()},
                           {"is_exact", is_exact ? 1 : 0}};
        finding.examples = producer.stale_keys;
        findings.push_back(std::move(finding));
    }
}

// H05: H04 proofs still arrive after twice the longest metadata age. Or so many keys lie in several old partitions, and none in a
// new one, that chance cannot explain it.
void TopicWatch::find_never_learning(std::vector<Finding>& findings, const TopicFacts& facts, TimestampMs now) const {
    if (epoch() == 0 || now.value - epochs_.back().time.value < kNeverMs) {
        return;
    }
    constexpr double kChanceMax = 1e-9;
    const bool is_exact = has_seen_growth(facts);
    const double chance_of_old = static_cast<double>(old_count()) / count();
    for (const auto& [identity, producer] : producers_) {
        if (!is_active(producer, now) || producer.closed_connections > 0) {
            continue;
        }
        const bool has_late_proof = producer.is_stale && producer.last_stale.value - epochs_.back().time.value >= kNeverMs;
        const ProducerVerdict verdict = producer.evidence.verdict();
        const bool is_old_only = !producer.used_new_partition && producer.partitions.size() >= 2 &&
                                 verdict.habit == KeyHabit::hashes_old_count &&
                                 std::pow(chance_of_old, verdict.keys) < kChanceMax;
        if (!has_late_proof && !is_old_only) {
            continue;
        }
        // No number grows by itself: only new evidence changes a finding.
        Finding finding =
            make_finding(HazardId::producer_never_learns, subject_of(identity, producer),
                         name_of(identity, producer) + " still uses " + std::to_string(old_count()) + " partitions more than " +
                             std::to_string(kNeverMs / 60'000) + " min after the topic grew to " + std::to_string(count()) +
                             ": longer than any client keeps metadata",
                         producer.stale_records);
        finding.numbers = {{"stale_records", producer.stale_records},
                           {"old_count", old_count()},
                           {"new_count", count()},
                           {"is_exact", is_exact ? 1 : 0}};
        finding.examples = producer.stale_keys;
        findings.push_back(std::move(finding));
    }
}

// H08: the families of producers do not agree at this count. Or their families cannot be told apart at this count, while the
// defaults of their software would part at another one.
void TopicWatch::find_mixed(std::vector<Finding>& findings, TimestampMs now) const {
    std::vector<Camp> camps;
    std::vector<Camp> by_software;
    for (const auto& [identity, producer] : producers_) {
        if (!is_active(producer, now) || producer.evidence.keyed_records() == 0) {
            continue;
        }
        const ProducerVerdict verdict = producer.evidence.verdict();
        if (verdict.habit == KeyHabit::mixed && (verdict.families & verdict.second_families).is_empty()) {
            join_camp(camps, verdict.families, identity);
            join_camp(camps, verdict.second_families, identity);
            continue;
        }
        const FamilySet known = producer.evidence.known_families();
        if (!known.is_empty()) {
            join_camp(camps, known, identity);
        }
        const auto expected = partitioners::expected_family(identity.software_name);
        // With one partition nothing is known; otherwise the default must be among the possible families.
        if (expected && (count() == 1 || (known.contains(*expected) && known.count() > 1))) {
            join_camp(by_software, FamilySet::of(*expected), identity);
        }
    }
    if (camps.size() > 1) {
        Finding finding = make_finding(HazardId::mixed_partitioners, {.topic = name_},
                                       "producers place keys by different partitioners: " + describe(camps),
                                       static_cast<std::int64_t>(camps.size()));
        finding.numbers = {{"partitioners", static_cast<std::int64_t>(camps.size())}};
        findings.push_back(std::move(finding));
    } else if (by_software.size() > 1) {
        Finding finding = make_finding(
            HazardId::mixed_partitioners, {.topic = name_},
            "at " + counted(count(), "partition", "partitions") +
                " all producers agree, but at other counts their default partitioners differ: " + describe(by_software),
            static_cast<std::int64_t>(by_software.size()));
        finding.severity = Severity::warn;
        finding.title = kMayPart;
        finding.numbers = {{"partitioners", static_cast<std::int64_t>(by_software.size())}};
        findings.push_back(std::move(finding));
    }
}

// H11: repeated keys went elsewhere, and no family explains where.
void TopicWatch::find_ignored_keys(std::vector<Finding>& findings, TimestampMs now) const {
    for (const auto& [identity, producer] : producers_) {
        if (!is_active(producer, now) || producer.evidence.verdict().habit != KeyHabit::ignores_keys) {
            continue;
        }
        findings.push_back(
            make_finding(HazardId::keys_ignored, subject_of(identity, producer),
                         name_of(identity, producer) + " sends keys but spreads the records of a key over partitions"));
    }
}

/// True if one partitioner that all producers may use puts the key into all its partitions at some counts.
bool TopicWatch::is_move_explained(const IndexedKey& key, std::span<const PastPlacement> past) const {
    bool is_explained = false;
    all_producers_.known_families().for_each([&](Family family) {
        const auto is_placed = [&](PartitionIndex partition) {
            return std::ranges::any_of(epochs_, [&](const TopicEpoch& then) {
                return partitioners::partition_of(family, as_bytes(key.key), then.partition_count) == partition;
            });
        };
        is_explained |= std::ranges::all_of(key.placements, is_placed, &KeyPlacement::partition) &&
                        std::ranges::all_of(past, is_placed, &PastPlacement::partition);
    });
    return is_explained;
}

// H09: a key with records in two partitions within one epoch. H04 covers moves that the expansion explains.
void TopicWatch::find_scattered_keys(std::vector<Finding>& findings, const TopicFacts& facts) const {
    const bool all_ignore_keys = std::ranges::all_of(producers_, [](const auto& entry) {
        const KeyHabit habit = entry.second.evidence.verdict().habit;
        return habit == KeyHabit::ignores_keys || habit == KeyHabit::no_keys;
    });
    if (all_ignore_keys) {
        return;
    }
    Finding finding = make_finding(HazardId::key_in_two_partitions, {.topic = name_}, "");
    std::int64_t found = 0;
    // Keys that a move could explain are left out, for any writer.
    bool is_exact = has_seen_everything(facts) && keys_.has_whole_past();
    for (const auto& [hash, key] : keys_.keys()) {
        if (key.placements.size() < 2) {
            continue;
        }
        const std::span<const PastPlacement> past = keys_.past(hash);
        const auto pair = pair_of_one_epoch(key, past, facts.log_starts);
        if (!pair) {
            continue;
        }
        if (is_move_explained(key, past)) {
            is_exact = false;
            continue;
        }
        ++found;
        finding.add_example(key.key, pair->first.partition, pair->second.partition);
        finding.add_evidence(pair->first.partition, pair->first.last);
    }
    if (found == 0) {
        return;
    }
    finding.condition = at_least(is_exact) + counted(found, "key has", "keys have") +
                        " records in several partitions, written at the same partition count" + sampling_note();
    count_keys(finding, "keys", found, is_exact);
    findings.push_back(std::move(finding));
}

/// The producers that choose partitions themselves, each with its habit: "; billing (/10.0.0.7) writes to one partition".
std::string TopicWatch::choosing_producers(TimestampMs now) const {
    std::string text;
    std::size_t count = 0;
    for (const auto& [identity, producer] : producers_) {
        const KeyHabit habit = producer.evidence.verdict().habit;
        if (!is_active(producer, now) || !chooses_partitions(habit)) {
            continue;
        }
        if (++count <= kProducersNamedMax) {
            text += "; " + name_of(identity, producer) + " " + std::string(insight::to_string(habit));
        }
    }
    return count > kProducersNamedMax ? text + " and " + std::to_string(count - kProducersNamedMax) + " more" : text;
}

// H12: after the window a new partition has never had a record, while old ones grow. A topic whose producers are known to hash by
// the new count just has too few keys.
void TopicWatch::find_unused_partitions(std::vector<Finding>& findings, const TopicFacts& facts, TimestampMs now) const {
    if (epoch() == 0 || now.value - epochs_.back().time.value < facts.window_ms || facts.old_partition_records == 0) {
        return;
    }
    if (all_producers_.verdict().habit == KeyHabit::hashes) {
        return;
    }
    std::int64_t empty = 0;
    for (auto partition = static_cast<std::size_t>(old_count()); partition < facts.log_ends.size(); ++partition) {
        empty += facts.log_ends[partition] == Offset{0} ? 1 : 0;
    }
    if (empty == 0) {
        return;
    }
    const bool is_written =
        std::ranges::any_of(producers_, [&](const auto& entry) { return now.value - entry.second.last_seen.value < kWritingMs; });
    Finding finding = make_finding(HazardId::new_partitions_unused, {.topic = name_},
                                   counted(empty, "new partition has", "new partitions have") +
                                       " never had a record since the topic grew from " + std::to_string(old_count()) + " to " +
                                       std::to_string(count()) + ", while old ones " + (is_written ? "are" : "were") +
                                       " written to" + choosing_producers(now),
                                   empty);
    finding.numbers = {{"empty_partitions", empty}, {"old_count", old_count()}, {"new_count", count()}};
    findings.push_back(std::move(finding));
}

// True if no known active producer may still write by an earlier count.
bool TopicWatch::have_all_switched(TimestampMs now) const {
    return std::ranges::none_of(producers_, [&](const auto& entry) {
        const Producer& producer = entry.second;
        const bool may_write = is_active(producer, now) && !producer.is_closed && producer.evidence.keyed_records() > 0;
        return may_write && (producer.is_stale || producer.switched == kNoTimestamp);
    });
}

// H40: the newest value of a key in p, with f(k) % M != p: compaction keeps it forever beside the newer one. If it came after the
// growth, its producer uses an old count and may come again and replace it. So it counts only once the key was written elsewhere
// since, or all have switched. Ends with a tombstone in p, or when p's log start passes it.
void TopicWatch::find_orphans(std::vector<Finding>& findings, const TopicFacts& facts, TimestampMs now) const {
    if (!facts.is_compacted || epoch() == 0 || known_families().is_empty()) {
        return;
    }
    Finding finding = make_finding(HazardId::compacted_orphans, {.topic = name_}, "");
    std::int64_t found = 0;
    const bool is_over = have_all_switched(now);
    for (const auto& [hash, key] : keys_.keys()) {
        const auto home = place(key.key, count());
        const std::uint64_t last_seen = std::ranges::max(key.placements, {}, &KeyPlacement::last_seen).last_seen;
        for (const KeyPlacement& placement : key.placements) {
            const bool is_left = is_over || placement.epoch < epoch() || placement.last_seen < last_seen;
            if (home && placement.partition != *home && is_left && !placement.is_tombstone &&
                is_in_log(placement, facts.log_starts)) {
                ++found;
                finding.add_example(key.key, placement.partition, home);
                break;
            }
        }
    }
    if (found == 0) {
        return;
    }
    const bool is_exact = has_seen_everything(facts);
    finding.condition = counted(found, "key has a value", "keys have a value") +
                        " in a partition that no longer gets their records, and compaction will never replace it" +
                        sampling_note();
    count_keys(finding, "orphaned_keys", found, is_exact);
    if (!is_exact) {
        doubt(finding, "compaction may keep old values for ever");
    }
    findings.push_back(std::move(finding));
}

// H41: a tombstone of a key in q, written after the newest value of the same key in p, which stays. Ends as H40.
void TopicWatch::find_missed_tombstones(std::vector<Finding>& findings, const TopicFacts& facts) const {
    if (!facts.is_compacted) {
        return;
    }
    Finding finding = make_finding(HazardId::tombstone_miss, {.topic = name_}, "");
    std::int64_t found = 0;
    for (const auto& [hash, key] : keys_.keys()) {
        const KeyPlacement* missed = nullptr;
        const KeyPlacement* deletion = nullptr;
        for (const KeyPlacement& tombstone : key.placements) {
            for (const KeyPlacement& value : key.placements) {
                if (tombstone.is_tombstone && !value.is_tombstone && value.last_seen < tombstone.last_seen &&
                    is_in_log(value, facts.log_starts)) {
                    missed = &value;
                    deletion = &tombstone;
                }
            }
        }
        if (missed != nullptr) {
            ++found;
            finding.add_example(key.key, missed->partition, deletion->partition);
            finding.add_evidence(missed->partition, missed->last);
        }
    }
    if (found == 0) {
        return;
    }
    const bool is_exact = has_seen_everything(facts);
    finding.condition = counted(found, "key was", "keys were") +
                        " deleted by a tombstone in one partition while another still holds a value" + sampling_note();
    count_keys(finding, "keys", found, is_exact);
    if (!is_exact) {
        doubt(finding, "a tombstone may miss its key");
    }
    findings.push_back(std::move(finding));
}

}  // namespace partita::insight
