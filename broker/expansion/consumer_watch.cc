#include "broker/expansion/consumer_watch.h"

#include <algorithm>
#include <optional>

#include "broker/expansion/applications.h"
#include "broker/expansion/counted.h"

namespace partita::expansion {
namespace {

Offset at(std::span<const Offset> offsets, PartitionIndex partition) {
    const auto index = static_cast<std::size_t>(partition.value);
    return index < offsets.size() ? offsets[index] : Offset{0};
}

std::optional<Offset> committed_of(const GroupFacts& group, PartitionIndex partition) {
    const Offset offset = at(group.committed, partition);
    const bool is_known = static_cast<std::size_t>(partition.value) < group.committed.size() && offset != kNoOffset;
    return is_known ? std::optional(offset) : std::nullopt;
}

bool holds(const GroupFacts& group, PartitionIndex partition) {
    return std::ranges::any_of(group.members, [&](const GroupFacts::Member& member) {
        return std::ranges::find(member.assigned, partition) != member.assigned.end();
    });
}

bool has_client(const GroupFacts& group, const ClientIdentity& client) {
    return std::ranges::any_of(group.members, [&](const GroupFacts::Member& member) {
        return member.client_id == client.client_id && member.client_host == client.address;
    });
}

/// The newest record of the key there that was written before that epoch; kNoOffset when there is none.
Offset last_before_epoch(const KeyPlacement& placement, std::int32_t epoch) {
    if (placement.epoch < epoch) return placement.last;
    return placement.earlier_epoch < epoch ? placement.last_of_earlier : kNoOffset;
}

std::string to_string(const ClientIdentity& client) { return client.client_id + " (" + client.address + ")"; }

template <class Map>
void drop_one_above(Map& map, std::size_t most) {
    if (map.size() > most) map.erase(map.begin());
}

}  // namespace

void ConsumerWatch::set_growth(std::int32_t old_count, std::int32_t new_count, TimestampMs expanded) {
    // A request may still be served by the state from before.
    if (new_count <= new_count_) return;
    old_count_ = old_count;
    new_count_ = new_count;
    expanded_ = expanded;
    pending_.clear();
    readers_.clear();
    members_.clear();
    advances_.clear();
    remembered_positions_ = 0;
}

void ConsumerWatch::on_offset_fetch(std::string_view group, const ClientIdentity& client, PartitionIndex partition,
                                    Offset committed, TimestampMs now) {
    if (!is_new(partition)) return;
    if (committed != kNoOffset) {
        pending_.erase({client, partition});
        return;
    }
    pending_[{client, partition}] = {.group = std::string(group), .asked = now};
    drop_one_above(pending_, kPendingMax);
}

void ConsumerWatch::on_list_latest(const ClientIdentity& client, PartitionIndex partition, Offset latest) {
    if (const auto pending = pending_.find({client, partition}); pending != pending_.end()) pending->second.latest = latest;
}

void ConsumerWatch::on_fetch(const ClientIdentity& client, PartitionIndex partition, Offset from, TimestampMs now) {
    Reading& reading = readers_.note(client);
    reading.last = now;
    if (is_new(partition)) {
        reading.reads_new = true;
    } else {
        const auto earliest = reading.partitions.try_emplace(partition, from).first;
        earliest->second = std::min(earliest->second, from);
    }
    const auto pending = pending_.find({client, partition});
    if (pending == pending_.end()) {
        // Whoever reads the skipped records after all ends the finding.
        skips_.client_reads(client, partition, from);
        return;
    }
    // A lag monitor asks for the end as well, but does not fetch from there.
    if (pending->second.latest == from && from > Offset{0}) {
        skips_.add(pending->second.group, partition, {.client = client, .from = from});
    }
    pending_.erase(pending);
}

void ConsumerWatch::on_commit(std::string_view group, std::span<const Commit> commits) {
    auto known = commits_.find(group);
    if (known == commits_.end()) {
        if (commits_.size() == kGroupsMax) commits_.erase(commits_.begin());
        known = commits_.emplace(std::string(group), Positions()).first;
    }
    Positions& positions = known->second;
    std::vector<Advance> advances;
    for (const Commit& commit : commits) {
        const auto [position, is_first] = positions.try_emplace(commit.partition, Offset{0});
        const Offset before = position->second;
        position->second = commit.offset;
        skips_.group_goes_to(known->first, commit.partition, commit.offset);
        if (commit.offset > before) {
            advances.push_back({.group = known->first, .partition = commit.partition, .before = before, .after = commit.offset, .positions = {}});
        }
    }
    if (advances.empty()) return;
    if (advances_.size() + advances.size() > kAdvancesMax || remembered_positions_ + positions.size() > kPositionsMax) {
        uncounted_ += static_cast<std::int64_t>(advances.size());
        return;
    }
    // One request commits all of its partitions at once: none of them is before another.
    const auto then = std::make_shared<const Positions>(positions);
    remembered_positions_ += then->size();
    for (Advance& advance : advances) {
        advance.positions = then;
        advances_.push_back(std::move(advance));
    }
}

std::vector<Finding> ConsumerWatch::findings(const ReaderFacts& facts, TimestampMs now) {
    std::vector<Finding> findings;
    note_members(facts, now);
    find_backlogs(facts, findings);
    prove_inversions(facts);
    find_inversions(facts, findings);
    find_skips(facts, findings);
    find_crashes(facts, now, findings);
    find_blind_groups(facts, now, findings);
    find_replays(facts, now, findings);
    find_manual_readers(facts, now, findings);
    find_external_offsets(now, findings);
    find_mirrors(facts, now, findings);
    find_seeds(facts, findings);
    return findings;
}

// H03, live: a group already reads new partitions, and has records from before the growth to read in old ones. Ends
// when the group committed the cut of every old partition.
void ConsumerWatch::find_backlogs(const ReaderFacts& facts, std::vector<Finding>& findings) const {
    for (const GroupFacts& group : facts.groups) {
        bool reads_new = false;
        for (std::int32_t index = facts.old_count; index < facts.new_count && !reads_new; ++index) {
            reads_new = holds(group, {index}) || committed_of(group, {index}).value_or(Offset{0}) > Offset{0};
        }
        if (!reads_new) continue;
        std::int64_t left = 0;
        std::int64_t partitions = 0;
        for (std::int32_t index = 0; index < facts.old_count; ++index) {
            const std::optional<Offset> committed = committed_of(group, {index});
            if (!committed) continue;
            const Offset position = std::max(*committed, at(facts.log_starts, {index}));
            const Offset cut = at(facts.cut, {index});
            if (position < cut) {
                left += cut - position;
                ++partitions;
            }
        }
        if (left == 0) continue;
        Finding finding = make_finding(HazardId::backlog_inversion, {.topic = topic_, .group = group.group_id},
                                       "group " + group.group_id + " reads new partitions while it still has " +
                                           counted(left, "record") + " from before the growth to read in " +
                                           counted(partitions, "old partition"),
                                       left);
        finding.numbers = {{"backlog_records", left}, {"partitions", partitions}};
        findings.push_back(std::move(finding));
    }
}

// A position that no request told since the topic grew is the one the group has now, or was before that: then what is
// not passed now was not passed at the time either.
std::optional<Offset> ConsumerWatch::position_at(const Advance& advance, PartitionIndex partition, const ReaderFacts& facts) {
    if (const auto told = advance.positions->find(partition); told != advance.positions->end()) return told->second;
    const auto group = std::ranges::find(facts.groups, advance.group, &GroupFacts::group_id);
    return group == facts.groups.end() ? std::nullopt : committed_of(*group, partition);
}

// H06: the group committed beyond record b of a key in partition q while its commit in p was not beyond the key's record a,
// which was written under an earlier count. Commits are judged in the order in which they came.
void ConsumerWatch::prove_inversions(const ReaderFacts& facts) {
    const std::vector<Advance> advances = std::move(advances_);
    advances_.clear();
    remembered_positions_ = 0;
    if (facts.keys == nullptr || advances.empty()) return;
    for (const auto& [hash, key] : facts.keys->keys()) {
        if (key.placements.size() < 2) continue;
        for (const KeyPlacement& later : key.placements) {
            for (const KeyPlacement& earlier : key.placements) {
                const Offset older = last_before_epoch(earlier, later.epoch);
                if (older == kNoOffset || earlier.partition == later.partition) continue;
                for (const Advance& advance : advances) {
                    if (advance.partition != later.partition || advance.before > later.first || advance.after <= later.first) continue;
                    const std::optional<Offset> position = position_at(advance, earlier.partition, facts);
                    if (!position || *position > older) continue;
                    if (inversions_.size() == kInvertedKeysMax) {
                        ++uncounted_;
                        continue;
                    }
                    inversions_.emplace(std::pair(advance.group, key.key),
                                        Inversion{.from = earlier.partition,
                                                  .earlier = older,
                                                  .to = later.partition,
                                                  .later = later.first});
                }
            }
        }
    }
}

// What was delivered in the wrong order stays so. It ends when retention has removed the proof.
void ConsumerWatch::find_inversions(const ReaderFacts& facts, std::vector<Finding>& findings) {
    std::erase_if(inversions_, [&](const auto& proven) {
        return proven.second.earlier < at(facts.log_starts, proven.second.from);
    });
    std::map<std::string, std::vector<std::pair<std::string_view, const Inversion*>>> by_group;
    for (const auto& [where, inversion] : inversions_) by_group[where.first].emplace_back(where.second, &inversion);
    for (const auto& [group, inversions] : by_group) {
        const auto count = static_cast<std::int64_t>(inversions.size());
        const Inversion& first = *inversions.front().second;
        Finding finding = make_finding(
            HazardId::inversion_delivered, {.topic = topic_, .group = group},
            "group " + group + " was through with newer records of " + counted(count, "key") + " before older ones: it had committed " +
                topic_ + "-" + std::to_string(first.to.value) + " beyond offset " + std::to_string(first.later.value) + " and " +
                topic_ + "-" + std::to_string(first.from.value) + " not beyond " + std::to_string(first.earlier.value) +
                (uncounted_ > 0 ? ", and there were more than could be counted" : ""),
            count);
        finding.numbers = {{"keys", count}};
        for (const auto& [key, inversion] : inversions) finding.add_example(key, inversion->from, inversion->to);
        findings.push_back(std::move(finding));
    }
}

// H20: OffsetFetch said "none", ListOffsets said o > 0, and the same client fetched from o on: o records (less those that
// retention took before) were never read by the group. Exact. Ends when somebody of the group goes back, or when the
// records are gone.
void ConsumerWatch::find_skips(const ReaderFacts& facts, std::vector<Finding>& findings) {
    skips_.erase_if([&](const auto& skip) { return at(facts.log_starts, skip.first.second) >= skip.second.from; });
    struct Lost {
        std::int64_t records = 0;
        std::int64_t partitions = 0;
        const SkipTable::Skip* example = nullptr;
    };
    std::map<std::string, Lost> by_group;
    for (const auto& [where, skip] : skips_.all()) {
        Lost& lost = by_group[where.first];
        lost.records += skip.from - at(facts.log_starts, where.second);
        ++lost.partitions;
        lost.example = &skip;
    }
    for (const auto& [group, lost] : by_group) {
        Finding finding = make_finding(
            HazardId::latest_loses_first_records, {.topic = topic_, .group = group, .client_id = lost.example->client.client_id},
            "group " + group + " never read the first " + counted(lost.records, "record") + " of " +
                counted(lost.partitions, "new partition") + ": it had no committed offset there and began at the end (" +
                to_string(lost.example->client) + ")",
            lost.records);
        finding.numbers = {{"skipped_records", lost.records}, {"partitions", lost.partitions}};
        findings.push_back(std::move(finding));
    }
}

// H21: OffsetFetch said "none", nothing followed, and the client has left the group.
void ConsumerWatch::find_crashes(const ReaderFacts& facts, TimestampMs now, std::vector<Finding>& findings) const {
    std::map<std::string, std::map<ClientIdentity, std::int64_t>> by_group;
    for (const auto& [where, pending] : pending_) {
        const auto& [client, partition] = where;
        if (now.value - pending.asked.value < kNoneCrashMs || pending.latest != kNoOffset) continue;
        const auto group = std::ranges::find(facts.groups, pending.group, &GroupFacts::group_id);
        const bool is_there = group != facts.groups.end() && (has_client(*group, client) || holds(*group, partition));
        if (!is_there) ++by_group[pending.group][client];
    }
    for (const auto& [group, clients] : by_group) {
        const auto& [client, partitions] = *clients.begin();
        Finding finding = make_finding(HazardId::none_crashes, {.topic = topic_, .group = group, .client_id = client.client_id},
                                       to_string(client) + " of group " + group + " found no committed offset for " +
                                           counted(partitions, "new partition") +
                                           " and left without reading: auto.offset.reset=none stops there",
                                       static_cast<std::int64_t>(clients.size()));
        finding.numbers = {{"clients", static_cast<std::int64_t>(clients.size())}, {"partitions", partitions}};
        findings.push_back(std::move(finding));
    }
}

// H22: the group has members with partitions of the topic, none of them has a new partition that holds records, and there
// was time to take it. Ends with the assignment.
void ConsumerWatch::find_blind_groups(const ReaderFacts& facts, TimestampMs now, std::vector<Finding>& findings) const {
    if (now.value - facts.expanded.value < kBlindMs) return;
    for (const GroupFacts& group : facts.groups) {
        const bool is_assigned =
            std::ranges::any_of(group.members, [](const GroupFacts::Member& member) { return !member.assigned.empty(); });
        if (!is_assigned) continue;
        std::int64_t waiting = 0;
        std::int64_t partitions = 0;
        for (std::int32_t index = facts.old_count; index < facts.new_count; ++index) {
            const PartitionIndex partition{index};
            const Offset end = at(facts.log_ends, partition);
            const Offset position = std::max(committed_of(group, partition).value_or(Offset{0}), at(facts.log_starts, partition));
            if (holds(group, partition) || end <= position) continue;
            waiting += end - position;
            ++partitions;
        }
        if (partitions == 0) continue;
        Finding finding = make_finding(HazardId::group_blind, {.topic = topic_, .group = group.group_id},
                                       "no member of group " + group.group_id + " has " + counted(partitions, "new partition") + ", where " +
                                           counted(waiting, "record") + " wait since the topic grew from " +
                                           std::to_string(facts.old_count) + " to " + std::to_string(facts.new_count),
                                       waiting);
        finding.numbers = {{"waiting_records", waiting}, {"partitions", partitions}};
        findings.push_back(std::move(finding));
    }
}

std::vector<std::pair<ClientIdentity, const ConsumerWatch::Reading*>> ConsumerWatch::manual_readers(TimestampMs now) const {
    std::vector<std::pair<ClientIdentity, const Reading*>> found;
    for (const auto& [client, reading] : readers_.clients()) {
        if (now.value - reading.last.value > kSilentMs) continue;
        // A member that has just left is no reader of its own.
        const TimestampMs* member = members_.find(client);
        if (member == nullptr || reading.last.value - member->value > kBlindMs) found.emplace_back(client, &reading);
    }
    return found;
}

void ConsumerWatch::note_members(const ReaderFacts& facts, TimestampMs now) {
    for (const GroupFacts& group : facts.groups) {
        for (const GroupFacts::Member& member : group.members) {
            members_.note({member.client_id, member.client_host}) = now;
        }
    }
}

// H07, live: a reader that no group explains has begun before the cut, so of every key that moved it is given what was
// written before the growth and after it in no order. Of groups H03 says this. Ends when the reader stops, or when the
// records are gone.
void ConsumerWatch::find_replays(const ReaderFacts& facts, TimestampMs now, std::vector<Finding>& findings) const {
    for (const auto& [client, reading] : manual_readers(now)) {
        std::int64_t records = 0;
        for (const auto& [partition, from] : reading->partitions) {
            const Offset position = std::max(from, at(facts.log_starts, partition));
            records += std::max<std::int64_t>(0, at(facts.cut, partition) - position);
        }
        if (records == 0) continue;
        Finding finding = make_finding(
            HazardId::replay_inversion, {.topic = topic_, .client_id = client.client_id, .client_address = client.address},
            to_string(client) + " began, in no group, " + counted(records, "record") + " before the growth from " +
                std::to_string(facts.old_count) + " to " + std::to_string(facts.new_count) +
                ": what came before it and after it of a key that moved is read in no order",
            records);
        finding.numbers = {{"records_of_earlier_epochs", records}};
        findings.push_back(std::move(finding));
    }
}

// H23: a client fetches old partitions, no group explains it, and it has never asked for a new one. Ends when it does, or
// when it stops reading.
void ConsumerWatch::find_manual_readers(const ReaderFacts& facts, TimestampMs now, std::vector<Finding>& findings) const {
    if (now.value - facts.expanded.value < kBlindMs) return;
    for (const auto& [client, reading] : manual_readers(now)) {
        if (reading->reads_new || reading->partitions.empty()) continue;
        const auto partitions = static_cast<std::int64_t>(reading->partitions.size());
        Finding finding = make_finding(
            HazardId::manual_readers, {.topic = topic_, .client_id = client.client_id, .client_address = client.address},
            to_string(client) + " reads " + counted(partitions, "old partition") + " by itself, in no group, and none of the " +
                std::to_string(facts.new_count - facts.old_count) + " new ones",
            partitions);
        finding.numbers = {{"partitions", partitions}};
        findings.push_back(std::move(finding));
    }
}

// H29: a client reads in no group, new partitions too: it finds them by itself, and what it has read only it knows. Those that
// do not find them are H23's. Ends when it stops reading.
void ConsumerWatch::find_external_offsets(TimestampMs now, std::vector<Finding>& findings) const {
    for (const auto& [client, reading] : manual_readers(now)) {
        if (!reading->reads_new) continue;
        const std::string_view engine = engine_with_own_offsets(client.client_id);
        findings.push_back(make_finding(
            HazardId::external_offsets, {.topic = topic_, .client_id = client.client_id, .client_address = client.address},
            to_string(client) + (engine.empty() ? "" : ", by its name " + std::string(engine) + ",") +
                " reads new partitions in no group: what it has read, and where it began in them, is not known here"));
    }
}

// H48: a client reads in no group and is called what programs are called that copy topics. Ends when it stops reading.
void ConsumerWatch::find_mirrors(const ReaderFacts& facts, TimestampMs now, std::vector<Finding>& findings) const {
    for (const auto& [client, reading] : manual_readers(now)) {
        const std::string_view program = mirroring_program(client.client_id);
        if (program.empty()) continue;
        findings.push_back(make_finding(
            HazardId::mirrors, {.topic = topic_, .client_id = client.client_id, .client_address = client.address},
            to_string(client) + " is by its name of " + std::string(program) +
                (reading->reads_new ? ", and reads the new partitions"
                                    : ", and reads none of the new partitions: the copy has " + std::to_string(facts.old_count) +
                                          " as long as it does not")));
    }
}

// H30: offsets that the expansion gave to a group stand. Ends when the group committed over all of them, or they were taken
// back.
void ConsumerWatch::find_seeds(const ReaderFacts& facts, std::vector<Finding>& findings) const {
    for (const GroupFacts& group : facts.groups) {
        if (group.seeded_partitions == 0) continue;
        Finding finding = make_finding(HazardId::seeded_offsets, {.topic = topic_, .group = group.group_id},
                                       "group " + group.group_id + " was given offset 0 in " +
                                           counted(group.seeded_partitions, "partition") + ", and has not committed there yet",
                                       group.seeded_partitions);
        finding.numbers = {{"partitions", group.seeded_partitions}};
        findings.push_back(std::move(finding));
    }
}

}  // namespace partita::expansion
