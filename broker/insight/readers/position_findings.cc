#include "broker/insight/readers/position_findings.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "broker/insight/findings/sentence_numbers.h"
#include "broker/insight/readers/order_watch.h"

namespace partita::insight {
namespace {

/// By partition of the topic, whether the group's members hold it.
std::vector<bool> held_by(const GroupFacts& group, std::size_t partitions) {
    std::vector<bool> held(partitions, false);
    for (const GroupFacts::Member& member : group.members) {
        for (const PartitionIndex partition : member.assigned) {
            if (static_cast<std::size_t>(partition.value) < partitions) {
                held[static_cast<std::size_t>(partition.value)] = true;
            }
        }
    }
    return held;
}

/// The newest expansion with a new partition that the group holds or has committed in; null if there is none. A commit of 0 says
/// nothing, because a seed looks the same, even if the group has passed records behind it.
const EarlierExpansion* newest_read_growth(const GroupFacts& group, std::span<const EarlierExpansion> growths) {
    std::int32_t highest = -1;
    for (const GroupFacts::Member& member : group.members) {
        for (const PartitionIndex partition : member.assigned) {
            highest = std::max(highest, partition.value);
        }
    }
    for (auto index = static_cast<std::int32_t>(group.committed.size()) - 1; index > highest; --index) {
        if (committed_of(group, {index}).value_or(Offset{0}) > Offset{0}) {
            highest = index;
        }
    }
    return highest < 0 ? nullptr : growth_of(growths, {highest});
}

constexpr std::size_t kGroupsNamedMax = 4;

}  // namespace

std::vector<UnreadOfGrowth> unread_of_growth(const ReaderFacts& facts, const FirstReads& first_reads,
                                             const std::optional<std::set<std::string>>& readers) {
    std::vector<UnreadOfGrowth> all;
    const EarlierExpansion& growth = facts.last_growth();
    for (const GroupFacts& group : facts.groups) {
        const auto reads = first_reads.find(group.group_id);
        const bool was_reader = readers ? readers->contains(group.group_id)
                                        : std::ranges::any_of(group.committed, [](Offset offset) { return offset != kNoOffset; });
        UnreadOfGrowth unread{.group = &group, .positions = {}, .records = {}};
        for (std::int32_t index = 0; index < growth.old_count; ++index) {
            const PartitionIndex partition{index};
            const Offset start = offset_at(facts.log_starts, partition);
            const Offset cut = offset_at(growth.log_end_offsets, partition);
            std::optional<Offset> reached = position_of(group, partition);
            if (!reached && reads != first_reads.end() && reads->second.contains(partition)) {
                reached = reads->second.at(partition);
            } else if (!reached && was_reader) {
                reached = start;
            }
            const Offset position = std::min(cut, std::max(start, reached.value_or(cut)));
            unread.positions.push_back(position);
            if (position >= cut) {
                continue;
            }
            const RecordCount records = records_between(facts, partition, position, cut);
            unread.records += records;
            unread.partitions += records.records > 0 ? 1 : 0;
        }
        if (unread.records.records == 0) {
            continue;
        }
        unread.reads_new = newest_read_growth(group, facts.growths) == &growth;
        all.push_back(std::move(unread));
    }
    return all;
}

void find_backlogs(const std::string& topic, const ReaderFacts& facts, const std::vector<UnreadOfGrowth>& unread,
                   const OrderWatch& order, std::vector<Finding>& findings) {
    const EarlierExpansion& growth = facts.last_growth();
    for (const UnreadOfGrowth& each : unread) {
        const OrderWatch::Moved moved = order.moved_from(each.positions);
        if (moved.has_no_keys || (moved.records == 0 && moved.is_exact)) {
            continue;
        }
        const RecordCount& left = each.records;
        const RecordCount with_moved_keys{.records = std::min(moved.records.value_or(0), left.records),
                                          .is_exact = left.is_exact && moved.is_exact};
        std::string condition = "group " + each.group->group_id + " has not read " + counted(left, "record") +
                                " from before the growth from " + std::to_string(growth.old_count) + " to " +
                                std::to_string(growth.new_count) + " in " + counted(each.partitions, "partition");
        condition += moved.records ? "; " + counted(with_moved_keys, "record of these has a key that moved",
                                                    "records of these have keys that moved")
                                   : std::string("; how many of them have keys that moved is unknown");
        condition += each.reads_new ? ", and the group already reads new partitions" : "";
        Finding finding = make_finding(HazardId::backlog_inversion, {.topic = topic, .group = each.group->group_id},
                                       std::move(condition), moved.records ? with_moved_keys.records : left.records);
        finding.numbers = {{"backlog_records", left.records}};
        if (moved.records) {
            finding.numbers.push_back({"moved_backlog_records", with_moved_keys.records});
        }
        finding.numbers.push_back({"partitions", each.partitions});
        finding.numbers.push_back({"is_exact", (moved.records ? with_moved_keys : left).is_exact ? 1 : 0});
        findings.push_back(std::move(finding));
    }
}

void find_stale_leftovers(const std::string& topic, const ReaderFacts& facts, LookTime& time, std::vector<Finding>& findings) {
    for (const StaleWrites::Writer& writer : facts.stale_writers) {
        if (writer.is_writing) {
            // Registers the time of the next look: while the writer is active, there is nothing to report.
            (void)time.has_passed(writer.silent_from, 0);
            continue;
        }
        const bool is_in_log = std::ranges::any_of(
            writer.last, [&](const auto& place) { return offset_at(facts.log_starts, place.first) <= place.second; });
        if (!is_in_log) {
            continue;
        }
        std::int64_t groups = 0;
        std::string names;
        for (const GroupFacts& group : facts.groups) {
            const bool is_behind = std::ranges::any_of(writer.last, [&](const auto& place) {
                const auto& [partition, last] = place;
                const std::optional<Offset> position = position_of(group, partition);
                return position && *position <= last && offset_at(facts.log_starts, partition) <= last;
            });
            if (!is_behind) {
                continue;
            }
            if (static_cast<std::size_t>(++groups) <= kGroupsNamedMax) {
                names += (names.empty() ? "" : ", ") + group.group_id;
            }
        }
        if (static_cast<std::size_t>(groups) > kGroupsNamedMax) {
            names += " and " + std::to_string(groups - static_cast<std::int64_t>(kGroupsNamedMax)) + " more";
        }
        Finding finding = make_finding(
            HazardId::stale_producer,
            {.topic = topic, .client_id = writer.client.client_id, .client_address = writer.client.address},
            writer.client.client_id + " (" + writer.client.address + ") placed keys as before the topic grew from " +
                std::to_string(writer.old_count) + " to " + std::to_string(writer.new_count) + " partitions until " +
                std::to_string(writer.last_after_ms / 1000) + " s after it: " + (writer.is_exact ? "" : "at least ") +
                counted(writer.records, "record proves", "records prove") + " it" +
                (groups == 0
                     ? ""
                     : ", and " + counted(groups, "group has", "groups have") + " not read all of them yet (" + names + ")"),
            writer.records);
        finding.kind = HazardKind::harm;
        for (const auto& [partition, last] : writer.last) {
            finding.add_evidence(partition, last);
        }
        finding.numbers = {{"stale_records", writer.records},
                           {"last_proof_after_ms", writer.last_after_ms},
                           {"old_count", writer.old_count},
                           {"new_count", writer.new_count},
                           {"is_exact", writer.is_exact ? 1 : 0}};
        findings.push_back(std::move(finding));
    }
}

void find_seeds(const std::string& topic, const ReaderFacts& facts, std::vector<Finding>& findings) {
    for (const GroupFacts& group : facts.groups) {
        if (group.seeded_partitions == 0) {
            continue;
        }
        Finding finding = make_finding(HazardId::seeded_offsets, {.topic = topic, .group = group.group_id},
                                       "group " + group.group_id + " was given offset 0 in " +
                                           counted(group.seeded_partitions, "partition") + ", and has not committed there yet",
                                       group.seeded_partitions);
        finding.numbers = {{"partitions", group.seeded_partitions}};
        findings.push_back(std::move(finding));
    }
}

const BlindGroups::Complete* BlindGroups::note(const std::string& group, const std::vector<bool>& held, std::int32_t first_new,
                                               TimestampMs now) {
    const auto count = static_cast<std::int32_t>(held.size());
    const auto lacks_one_below = [&](std::int32_t end) {
        const auto last = held.begin() + std::min(end, count);
        return std::find(held.begin() + first_new, last, false) != last;
    };
    if (!lacks_one_below(count)) {
        return &(complete_[group] = {.count = count});
    }
    const auto known = complete_.find(group);
    if (known == complete_.end()) {
        return nullptr;
    }
    Complete& complete = known->second;
    // Between two generations no member has any partition: only the states before and after count.
    if (std::ranges::find(held, true) == held.end()) {
        return &complete;
    }
    if (!lacks_one_below(complete.count)) {
        complete.lost = kNoTimestamp;
    } else if (complete.lost == kNoTimestamp) {
        complete.lost = now;
    }
    return &complete;
}

void BlindGroups::find(const std::string& topic, const ReaderFacts& facts, LookTime& time, std::vector<Finding>& findings) {
    const std::int32_t first_new = facts.growths.front().old_count;
    const std::int32_t count = facts.last_growth().new_count;
    std::set<std::string_view> readers;
    for (const GroupFacts& group : facts.groups) {
        readers.insert(group.group_id);
        const std::vector<bool> held = held_by(group, static_cast<std::size_t>(count));
        const Complete* complete = note(group.group_id, held, first_new, time.now());
        if (std::ranges::find(held, true) == held.end()) {
            continue;
        }
        RecordCount waiting;
        std::int64_t partitions = 0;
        const EarlierExpansion* first = nullptr;
        for (std::int32_t index = first_new; index < count; ++index) {
            const PartitionIndex partition{index};
            if (held[static_cast<std::size_t>(index)]) {
                continue;
            }
            const EarlierExpansion* growth = growth_of(facts.growths, partition);
            const Offset end = offset_at(facts.log_ends, partition);
            const Offset position =
                std::max(position_of(group, partition).value_or(Offset{0}), offset_at(facts.log_starts, partition));
            const bool had_it = complete != nullptr && index < complete->count;
            const TimestampMs since = had_it ? std::max(growth->time, complete->lost) : growth->time;
            if (end <= position) {
                continue;
            }
            const RecordCount records = records_between(facts, partition, position, end);
            if (records.records == 0 || !time.has_passed(since, kBlindMs)) {
                continue;
            }
            waiting += records;
            ++partitions;
            first = first == nullptr ? growth : first;
        }
        if (partitions == 0) {
            continue;
        }
        Finding finding = make_finding(HazardId::group_blind, {.topic = topic, .group = group.group_id},
                                       "no member of group " + group.group_id + " has " + counted(partitions, "new partition") +
                                           ", where " + counted(waiting, "record") + " wait since the topic grew from " +
                                           std::to_string(first->old_count) + " to " + std::to_string(count),
                                       waiting.records);
        finding.numbers = {
            {"waiting_records", waiting.records}, {"partitions", partitions}, {"is_exact", waiting.is_exact ? 1 : 0}};
        findings.push_back(std::move(finding));
    }
    std::erase_if(complete_, [&](const auto& group) { return !readers.contains(group.first); });
}

}  // namespace partita::insight
