// The findings about groups that the broker must or may tell.

#include <algorithm>
#include <map>
#include <set>

#include "tests/histories/oracle_rules.h"

namespace partita::test::histories {

void Oracle::about_group(std::size_t index) {
    const GroupDiary& group = diary_.groups[index];
    if (group.is_deleted) {
        return;
    }
    const std::string name = script_.groups[index].name + unique_;
    backlog(name, group);
    skipped(name, index);
    stopped(name, group);
    blind(name, group);
    due_rebalance(name, group);
    inverted(name, group);
    const auto seeds = static_cast<std::int64_t>(group.seeded.size());
    add("H30", name, seeds, seeds, true, "seeded partitions without a commit");
}

// G04: a history lasts for seconds, so that all of it lies within the five minutes. The diary does not know what KIP-848 members
// hold between two agreements.
void Oracle::flapping(const std::string& name, const GroupDiary& group, bool is_consumer_protocol) {
    const auto is_restless = [](const auto& partition) { return partition.second.returns >= kRestlessReturns; };
    const auto partitions = static_cast<std::int64_t>(std::ranges::count_if(group.owners, is_restless));
    const auto most = is_consumer_protocol ? static_cast<std::int64_t>(group.owners.size()) : partitions;
    add("G04", name, std::min<std::int64_t>(partitions, 1), most, !is_consumer_protocol,
        "partitions that came back to the member before the last one");
}

// H03: the records from before the last growth that the group has not read and whose keys moved; all of them while the broker
// cannot tell the partitioner. A partition without a commit may count from its start.
void Oracle::backlog(const std::string& name, const GroupDiary& group) {
    const Growth& growth = diary_.growths.back();
    const bool may_read_all = group.open_members() > 0 || !group.committed.empty();
    std::int64_t surely_moved = 0;
    std::int64_t unread = 0;
    for (int partition = 0; partition < growth.from; ++partition) {
        const auto committed = group.committed.find(partition);
        if (committed == group.committed.end() && !may_read_all) {
            continue;
        }
        const PartitionDiary& log = diary_.partitions[static_cast<std::size_t>(partition)];
        const std::int64_t position = std::max(committed == group.committed.end() ? 0 : committed->second, log.start);
        for (std::int64_t offset = position; offset < growth.cut[static_cast<std::size_t>(partition)]; ++offset) {
            const Written& record = log.records[static_cast<std::size_t>(offset)];
            const Placing placing = script_.producers[static_cast<std::size_t>(record.producer)].placing;
            ++unread;
            surely_moved +=
                committed != group.committed.end() && placing != Placing::at_random &&
                        std::ranges::count(places_of_siblings(placing, key_text(record.key), growth.to), partition) == 0
                    ? 1
                    : 0;
        }
    }
    const std::int64_t least = has_one_partitioner() ? std::max<std::int64_t>(surely_moved, 1) : 1;
    add("H03", name, least, unread, surely_moved > 0 && has_one_partitioner(), "unread records from before the last growth");
}

bool Oracle::has_one_partitioner() const {
    const Placing first = script_.producers.front().placing;
    return first != Placing::at_random &&
           std::ranges::all_of(script_.producers, [&](const ProducerCast& producer) { return producer.placing == first; });
}

// H06: keys. The broker's proof by commits compares a record with the one before it of the same key, and remembers a limited
// number of steps for each key. By what it sent, it compares the last record before a growth with the first one after it.
void Oracle::inverted(const std::string& name, const GroupDiary& group) {
    const auto start_of = [&](int partition) { return diary_.partitions[static_cast<std::size_t>(partition)].start; };
    const auto is_there = [&](const auto& older) { return older.second >= start_of(older.first); };
    std::set<int> all;
    std::set<int> surely;
    for (const auto& [key, inversion] : group.inversions) {
        if (std::ranges::none_of(inversion.from, is_there)) {
            continue;
        }
        all.insert(key);
        const bool is_untouched =
            std::ranges::all_of(inversion.from, [&](const auto& older) { return start_of(older.first) == 0; }) &&
            std::ranges::all_of(inversion.to, [&](int newer) { return start_of(newer) == 0; });
        // The order of the answers decides: the group may have been given the older record before, and not committed it.
        const bool is_judged = std::ranges::any_of(group.given_since, [&](const GivenSince& since) {
            return std::ranges::all_of(inversion.from, [&](const auto& older) { return since.given.contains(older); });
        });
        // One of several members may have finished the older record, and not committed it.
        const bool has_one_member = script_.groups[index_of(group)].members.size() == 1;
        if (sees_all_ && !is_judged && has_one_member && inversion.is_provable && is_untouched && steps_of(key) <= kStepsKept &&
            partitions_of(key) <= kPartitionsKept) {
            surely.insert(key);
        }
    }
    const bool is_known = std::ranges::none_of(script_.groups[index_of(group)].members,
                                               [&](const Caller& member) { return is_name_shared(member.client_id); });
    const Overtaken overtaken = overtaken_in(group.given_since);
    const bool is_settled = overtaken.is_settled;
    all.insert(overtaken.all.begin(), overtaken.all.end());
    if (is_known) {
        surely.insert(overtaken.surely.begin(), overtaken.surely.end());
    }
    const auto due = static_cast<std::int64_t>(surely.size());
    // A reader in no group may pass for a member of its name that does not read.
    const auto most = is_known ? static_cast<std::int64_t>(all.size()) : script_.keys;
    std::string why = "keys of which it was given a newer record first";
    for (const int key : surely) {
        why += (key == *surely.begin() ? ", surely " : ", ") + key_text(key);
    }
    add("H06", name, is_settled ? due : std::min<std::int64_t>(due, 1), most, is_settled, std::move(why));
    add(kMaybeInverted, name, 1, script_.keys, false, "keys that are in two members");
}

Oracle::Overtaken Oracle::overtaken_in(const std::vector<GivenSince>& watches) const {
    const auto is_there = [&](const auto& older) {
        return older.second >= diary_.partitions[static_cast<std::size_t>(older.first)].start;
    };
    const bool is_untouched = std::ranges::all_of(diary_.partitions, [](const PartitionDiary& log) { return log.start == 0; });
    Overtaken overtaken;
    for (const GivenSince& since : watches) {
        // It can take ten seconds until it is known whose a connection was that has closed.
        overtaken.is_settled = overtaken.is_settled && (since.overtaken.empty() || diary_.now - since.last > kLatest);
        for (const auto& [key, older] : since.overtaken) {
            if (std::ranges::none_of(older, is_there)) {
                continue;
            }
            overtaken.all.insert(key);
            if (since.cut.contains(key) && !since.given_again.contains(key) && is_untouched && has_one_partitioner()) {
                overtaken.surely.insert(key);
            }
        }
    }
    return overtaken;
}

std::size_t Oracle::index_of(const GroupDiary& group) const { return static_cast<std::size_t>(&group - diary_.groups.data()); }

/// Returns in how many partitions the key has been.
std::size_t Oracle::partitions_of(int key) const {
    std::set<int> partitions;
    for_each_record([&](int partition, std::int64_t, const Written& record) {
        if (record.key == key && is_remembered(record)) {
            partitions.insert(partition);
        }
    });
    return partitions.size();
}

/// Returns how often the key went from one partition to another since the first growth.
int Oracle::steps_of(int key) const {
    std::map<std::int64_t, std::pair<int, int>> places;
    for_each_record([&](int partition, std::int64_t, const Written& record) {
        if (record.key == key && is_remembered(record)) {
            places[record.order] = {partition, record.epoch};
        }
    });
    int steps = 0;
    int before = -1;
    for (const auto& [order, place] : places) {
        steps += before >= 0 && place.first != before && place.second > 0 ? 1 : 0;
        before = place.first;
    }
    return steps;
}

/// Whether the group read the topic when the partition was new to it: surely, and perhaps.
std::pair<bool, bool> Oracle::was_there(const GroupDiary& group, int partition) const {
    const auto growth = std::ranges::find_if(
        diary_.growths, [&](const Growth& grown) { return partition >= grown.from && partition < grown.to; });
    const bool surely = group.grew_with.contains(static_cast<int>(growth - diary_.growths.begin()));
    return {surely, surely || group.may_have_been_there};
}

// H20: the records before the place where the group first began. A group that began again may have read the records between.
void Oracle::skipped(const std::string& name, std::size_t index) {
    const GroupCast& cast = script_.groups[index];
    const GroupDiary& group = diary_.groups[index];
    const bool is_shared =
        std::ranges::any_of(cast.members, [&](const Caller& member) { return is_name_shared(member.client_id); });
    std::int64_t due = 0;
    std::int64_t all = 0;
    for (const auto& [partition, beginning] : group.beginnings) {
        // A group that came after the growth begins where it likes.
        const auto [was_there_surely, was_there_perhaps] = was_there(group, partition);
        if (!beginning.skips || !was_there_perhaps) {
            continue;
        }
        const auto given = group.given.find(partition);
        std::int64_t records = 0;
        for (std::int64_t offset = diary_.partitions[static_cast<std::size_t>(partition)].start; offset < beginning.lowest;
             ++offset) {
            records += given == group.given.end() || !given->second.contains(offset) ? 1 : 0;
        }
        all += records;
        due += was_there_surely && !is_shared && diary_.now - beginning.last > kLatest ? records : 0;
    }
    add("H20", name, std::max<std::int64_t>(due, 1), all, due > 0,
        "records of new partitions before the place where the group began, given to none of it");
    if (is_shared) {
        skipped_by_one_of_several(name, cast);
    }
}

// When several clients share a name, the broker accuses none of them. It tells that one of them, or a reader in no group, skipped
// the records.
void Oracle::skipped_by_one_of_several(const std::string& name, const GroupCast& cast) {
    for (const Caller& member : cast.members) {
        std::int64_t records = 0;
        for (const auto& [who, from] : diary_.first_fetches) {
            const std::int64_t start = diary_.partitions[static_cast<std::size_t>(who.second)].start;
            if (who.first == member) {
                records += std::max<std::int64_t>(0, from - start);
            }
        }
        add(kOneOfSeveral, name, 1, records, false, "records before the places where clients of that name began");
        add(kOneOfSeveral, to_string(member), 1, records, false, "records before the places where clients of that name began");
    }
}

// H21: clients that came, found no offset, and left without asking where to begin. A client that left once proves nothing.
void Oracle::stopped(const std::string& name, const GroupDiary& group) {
    std::set<Caller> surely;
    std::set<Caller> perhaps;
    for (const auto& [who, asked] : group.without_offset) {
        const auto waited = diary_.now - asked.asked;
        const auto [was_there_surely, was_there_perhaps] = was_there(group, who.second);
        if (group.has_policy || !was_there_perhaps || !asked.is_gone || asked.times_gone < 2 || waited < kPatience) {
            continue;
        }
        perhaps.insert(who.first);
        if (was_there_surely && waited > kLatest) {
            surely.insert(who.first);
        }
    }
    add("H21", name, static_cast<std::int64_t>(surely.size()), static_cast<std::int64_t>(perhaps.size()), true,
        "clients that found no offset and left, twice or more often, and nobody of the group asked where to begin");
}

// H22: new partitions with records that no member of a group with members has.
void Oracle::blind(const std::string& name, const GroupDiary& group) {
    const bool is_assigned =
        std::ranges::any_of(group.members, [](const MemberDiary& member) { return member.is_open && !member.assigned.empty(); });
    if (!is_assigned) {
        return;
    }
    std::int64_t due = 0;
    std::int64_t all = 0;
    for (int partition = diary_.first_count(); partition < diary_.count(); ++partition) {
        if (group.holds(partition)) {
            continue;
        }
        const PartitionDiary& log = diary_.partitions[static_cast<std::size_t>(partition)];
        const auto committed = group.committed.find(partition);
        const std::int64_t waiting = log.end() - std::max(committed == group.committed.end() ? 0 : committed->second, log.start);
        const auto age = diary_.now - diary_.born(partition);
        if (waiting <= 0 || age < kPatience) {
            continue;
        }
        all += waiting;
        due += age > kLatest ? waiting : 0;
    }
    add("H22", name, due, all, true, "records in new partitions that no member has");
}

// H24: members, none of which has a partition of the last growth.
void Oracle::due_rebalance(const std::string& name, const GroupDiary& group) {
    const Growth& last = diary_.growths.back();
    bool holds_new = false;
    for (int partition = last.from; partition < last.to; ++partition) {
        holds_new |= group.holds(partition);
    }
    const int members = group.open_members();
    if (!holds_new) {
        add("H24", name, members, members, true, "members, none of which has a partition of the last growth");
    }
}

}  // namespace partita::test::histories
