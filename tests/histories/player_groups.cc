// The actions of group members.

#include <algorithm>

#include "tests/histories/player_cast.h"
#include "tests/support/plain_client.h"

namespace partita::test::histories {
namespace {

/// How far back consumers with by_duration begin.
constexpr std::int64_t kDurationMs = 1'800'000;

}  // namespace

void Player::rebalance(const Step& step) {
    const auto index = static_cast<std::size_t>(step.who);
    Group& group = *groups_[index];
    GroupDiary& diary = diary_.groups[index];
    diary.is_deleted = false;
    if ((step.variant & 2) != 0) {
        for (std::size_t member = 0; member < group.members.size(); ++member) {
            if (diary.members[member].is_open) {
                commit(index, member, group.members[member].positions);
            }
        }
    }
    if ((step.variant & 1) != 0 || diary.open_members() == 0) {
        group.known_count = diary_.count();
    }
    int joining = step.amount + (diary.open_members() == 0 ? 1 : 0);
    for (std::size_t member = 0; member < group.members.size() && joining > 0; ++member) {
        if (diary.members[member].is_open) {
            continue;
        }
        diary.members[member].is_open = true;
        --joining;
    }
    meet(index, {});
}

// All open members of the group share its partitions; members that come back to a group remember nothing. `silent`: members that
// do not go on to ask for their offsets.
void Player::meet(std::size_t index, const std::vector<int>& silent) {
    Group& group = *groups_[index];
    GroupDiary& diary = diary_.groups[index];
    std::vector<Member> members;
    std::vector<std::size_t> indexes;
    for (std::size_t member = 0; member < group.members.size(); ++member) {
        if (!diary.members[member].is_open) {
            continue;
        }
        Consumer& consumer = group.members[member];
        if (!consumer.client) {
            consumer.client = std::make_unique<Client>(stage_.port(), script_.groups[index].members[member], topic_);
        }
        diary.members[member].client = consumer.client->number();
        (void)consumer.client->partition_count();
        members.push_back({consumer.client.get(), &consumer.membership});
        indexes.push_back(member);
    }
    if (members.empty()) {
        return;
    }
    if (script_.groups[index].is_consumer_protocol) {
        group.known_count = diary_.count();
    }
    group.driver.rebalance(members, group.known_count);
    for (const std::size_t member : indexes) {
        const Membership& membership = group.members[member].membership;
        diary.members[member].assigned = membership.assigned;
        for (const int partition : membership.assigned) {
            diary.owners[partition].give_to(membership.member_id);
        }
    }
    for (const std::size_t member : indexes) {
        if (!diary.members[member].is_open) {
            continue;
        }
        Consumer& consumer = group.members[member];
        const Partitions assigned = consumer.membership.assigned;
        note("    member " + std::to_string(member) + " of " + group.name + " has " + std::to_string(assigned.size()) + " of " +
             std::to_string(group.known_count) + " partitions");
        consumer.positions.clear();
        consumer.fresh.clear();
        if (std::ranges::find(silent, static_cast<int>(member)) == silent.end()) {
            begin(index, member, assigned);
        }
    }
}

void Player::begin(std::size_t group, std::size_t member, const Partitions& partitions) {
    if (partitions.empty()) {
        return;
    }
    Consumer& consumer = groups_[group]->members[member];
    const Partitions without = ask_for_offsets(group, member);
    if (!without.empty() && script_.groups[group].reset == Reset::none) {
        return stop_for_it(group, member);
    }
    for (const int partition : without) {
        consumer.positions[partition] = look_for_beginning(group, member, partition);
        consumer.fresh.insert(partition);
    }
    note("    which begins at " + text_of(consumer.positions) +
         (without.empty() ? "" : ", without an offset in " + std::to_string(without.size())));
    poll(group, member, kSmallFetchBytes);
}

// Takes the positions that are committed; returns where there are none.
Partitions Player::ask_for_offsets(std::size_t group, std::size_t member) {
    Consumer& consumer = groups_[group]->members[member];
    GroupDiary& diary = diary_.groups[group];
    Partitions without;
    for (const auto& [partition, offset] : consumer.client->committed(groups_[group]->name, consumer.membership.assigned)) {
        if (offset >= 0) {
            consumer.positions[partition] = offset;
            diary.without_offset.erase({consumer.client->caller(), partition});
            continue;
        }
        without.insert(partition);
        if (!diary_.is_new(partition)) {
            continue;
        }
        NoOffset& asked = diary.without_offset[{consumer.client->caller(), partition}];
        asked.asked = Clock::now();
        asked.member = member;
        asked.is_gone = false;
    }
    return without;
}

// Notes that a client looks for a place, or reads, where a client of its name had no offset: its group has a policy and does not
// stop.
void Player::note_looking(const Caller& caller, int partition) {
    for (GroupDiary& group : diary_.groups) {
        group.has_policy |= group.without_offset.contains({caller, partition});
    }
}

std::int64_t Player::list_offset(Client& client, int partition, std::int64_t timestamp) {
    note_looking(client.caller(), partition);
    return client.list_offset(partition, timestamp);
}

std::int64_t Player::look_for_beginning(std::size_t group, std::size_t member, int partition) {
    Client& client = *groups_[group]->members[member].client;
    if (script_.groups[group].reset == Reset::earliest) {
        return list_offset(client, partition, kEarliestOffset);
    }
    if (script_.groups[group].reset == Reset::by_duration) {
        const std::int64_t found = list_offset(client, partition, wall_ms() - kDurationMs);
        if (found >= 0) {
            return found;
        }
    }
    return list_offset(client, partition, kLatestOffset);
}

// auto.offset.reset=none: the client throws an exception, and the application ends. The other members take over, and end
// likewise.
void Player::stop_for_it(std::size_t group, std::size_t member) {
    note("    member " + std::to_string(member) + " stops: it has no offset and may not choose one");
    close_member(group, member);
    meet(group, {});
}

void Player::poll(std::size_t group, std::size_t member, int partition_max_bytes) {
    Consumer& consumer = groups_[group]->members[member];
    GroupDiary& diary = diary_.groups[group];
    if (consumer.positions.empty()) {
        return;
    }
    const Client::Fetched fetched = consumer.client->fetch(consumer.positions, partition_max_bytes);
    for (const auto& [partition, position] : consumer.positions) {
        if (diary_.is_new(partition)) {
            note_fetch(group, member, partition, position);
        }
    }
    consumer.fresh.clear();
    note_kept_back(*consumer.client, consumer.positions, fetched, partition_max_bytes);
    note_given(group, fetched.offsets);
    for (const auto& [partition, offsets] : fetched.offsets) {
        diary.given[partition].insert(offsets.begin(), offsets.end());
        consumer.positions[partition] = offsets.back() + 1;
    }
    for (const int partition : fetched.out_of_range) {
        consumer.positions[partition] = list_offset(*consumer.client, partition, kEarliestOffset);
    }
    note("    positions of member " + std::to_string(member) + ": " + text_of(consumer.positions));
}

void Player::begin_watch(std::size_t group) {
    GroupDiary& diary = diary_.groups[group];
    while (diary.given_since.size() < diary_.growths.size()) {
        diary.given_since.push_back({.committed = diary.committed});
    }
}

// Notes records of one answer, and the older ones among them that come after newer records of their keys.
void Player::note_given(std::size_t group, const std::map<int, std::vector<std::int64_t>>& answer) {
    begin_watch(group);
    note_given(diary_.groups[group].given_since, &diary_.groups[group], answer);
}

bool Player::is_doubtful(const GroupDiary& group, std::size_t growth, int partition, std::int64_t first) const {
    if (growth >= group.at_work.size() || !group.at_work[growth] || group.committed_since[growth].contains(partition)) {
        return false;
    }
    const auto committed = group.committed.find(partition);
    return first == (committed == group.committed.end() ? log_of(partition).start : committed->second);
}

void Player::note_given(std::vector<GivenSince>& watches, const GroupDiary* group,
                        const std::map<int, std::vector<std::int64_t>>& answer) const {
    for (std::size_t growth = 0; growth < watches.size(); ++growth) {
        GivenSince& since = watches[growth];
        since.last = Clock::now();
        for (const auto& [partition, offsets] : answer) {
            const bool is_first = since.first.try_emplace(partition, offsets.front()).second;
            if (is_first && group != nullptr && is_doubtful(*group, growth, partition, offsets.front())) {
                since.doubtful.insert(partition);
            }
            for (const std::int64_t offset : offsets) {
                const Written& record = log_of(partition).records[static_cast<std::size_t>(offset)];
                if (!since.given.emplace(partition, offset).second) {
                    since.given_again.insert(record.key);
                    continue;
                }
                for (const auto& [other, newer] : since.places[record.key]) {
                    if (other == partition || log_of(other).records[static_cast<std::size_t>(newer)].order < record.order) {
                        continue;
                    }
                    std::int64_t& last = since.overtaken[record.key].try_emplace(partition, offset).first->second;
                    last = std::max(last, offset);
                    const auto committed = since.committed.find(partition);
                    if (!since.doubtful.contains(partition) && is_cut(growth, {partition, offset}, {other, newer}) &&
                        offset >= since.first.at(partition) &&
                        (committed == since.committed.end() || offset >= committed->second)) {
                        since.cut.insert(record.key);
                    }
                }
                since.places[record.key].emplace_back(partition, offset);
            }
        }
    }
}

// True if these are the key's last record of its partition from before the growth, and its first one of the other from after it.
bool Player::is_cut(std::size_t growth, std::pair<int, std::int64_t> older, std::pair<int, std::int64_t> newer) const {
    const Growth& grown = diary_.growths[growth];
    const auto cut_of = [&](int partition) {
        return partition < grown.from ? grown.cut[static_cast<std::size_t>(partition)] : std::int64_t{0};
    };
    const auto has_key = [&](int partition, std::int64_t from, std::int64_t to, int key) {
        const auto& records = diary_.partitions[static_cast<std::size_t>(partition)].records;
        return std::any_of(records.begin() + from, records.begin() + std::max(from, to),
                           [&](const Written& record) { return record.key == key; });
    };
    const int key = diary_.partitions[static_cast<std::size_t>(older.first)].records[static_cast<std::size_t>(older.second)].key;
    return older.second < cut_of(older.first) && newer.second >= cut_of(newer.first) &&
           !has_key(older.first, older.second + 1, cut_of(older.first), key) &&
           !has_key(newer.first, cut_of(newer.first), newer.second, key);
}

void Player::note_fetch(std::size_t group, std::size_t member, int partition, std::int64_t position) {
    Consumer& consumer = groups_[group]->members[member];
    std::map<int, Beginning>& beginnings = diary_.groups[group].beginnings;
    const auto known = beginnings.find(partition);
    note_looking(consumer.client->caller(), partition);
    note_first_fetch(consumer.client->caller(), partition, position);
    // A fetch that continues on its connection is not a beginning.
    if (consumer.fetched.insert(partition).second && consumer.fresh.contains(partition)) {
        const std::int64_t lowest = known == beginnings.end() ? position : std::min(known->second.lowest, position);
        const bool skipped_before =
            known == beginnings.end() || known->second.skips || known->second.lowest > log_of(partition).start;
        const std::int64_t highest = known == beginnings.end() ? position : std::max(known->second.highest, position);
        beginnings[partition] = {.lowest = lowest,
                                 .highest = highest,
                                 .last = Clock::now(),
                                 .skips = skipped_before && lowest > log_of(partition).start};
    } else {
        go_back(group, partition, position);
    }
}

void Player::note_first_fetch(const Caller& caller, int partition, std::int64_t position) {
    std::int64_t& highest = diary_.first_fetches[{caller, partition}];
    highest = std::max(highest, position);
}

// Notes that a member of the group reads, or will read, from there.
void Player::go_back(std::size_t group, int partition, std::int64_t position) {
    const auto known = diary_.groups[group].beginnings.find(partition);
    if (known == diary_.groups[group].beginnings.end() || position >= known->second.lowest) {
        return;
    }
    known->second.lowest = position;
    known->second.skips = false;
}

void Player::commit(std::size_t group, std::size_t member, const Offsets& offsets) {
    if (offsets.empty()) {
        return;
    }
    Consumer& consumer = groups_[group]->members[member];
    groups_[group]->driver.commit({consumer.client.get(), &consumer.membership}, offsets);
    note_commit(group, offsets);
}

// Sends a commit that the broker refuses. It changes nothing.
void Player::commit_late(std::size_t group, std::size_t member) {
    Consumer& consumer = groups_[group]->members[member];
    if (consumer.positions.empty() || consumer.membership.generation < 2) {
        return;
    }
    const Offsets accepted =
        groups_[group]->driver.commit_late({consumer.client.get(), &consumer.membership}, consumer.positions);
    if (!accepted.empty()) {
        note_commit(group, accepted);
    }
}

void Player::note_commit(std::size_t group, const Offsets& offsets) {
    GroupDiary& diary = diary_.groups[group];
    const Offsets before = diary.committed;
    for (const auto& [partition, offset] : offsets) {
        diary.committed[partition] = offset;
        diary.seeded.erase(partition);
        go_back(group, partition, offset);
        for (std::set<int>& since : diary.committed_since) {
            since.insert(partition);
        }
    }
    note("    committed " + text_of(offsets));
    note_inversions(group, before, offsets);
    for (const auto& [partition, offset] : offsets) {
        std::int64_t& highest = diary.highest_committed[partition];
        highest = std::max(highest, offset);
    }
}

void Player::note_inversions(std::size_t group, const Offsets& before, const Offsets& commits) {
    if (diary_.growths.empty()) {
        return;
    }
    for (const auto& [partition, offset] : commits) {
        const auto earlier = before.find(partition);
        for (std::int64_t passed = earlier == before.end() ? 0 : earlier->second;
             passed < std::min(offset, log_of(partition).end()); ++passed) {
            note_inversion(group, partition, passed, earlier == before.end());
        }
    }
}

// Notes that the group has finished with that record. The group may still have an older record of the same key to read in another
// partition. A group that only began behind the record was not given it, and read nothing too early.
void Player::note_inversion(std::size_t group, int partition, std::int64_t offset, bool is_by_first) {
    GroupDiary& diary = diary_.groups[group];
    if (!diary.given[partition].contains(offset)) {
        return;
    }
    // The broker may not be able to tell a member that read the record, and committed nothing, from a later one that began behind
    // it and commits. It also cannot tell a member that continues from one that goes to the end anew.
    const auto beginning = diary.beginnings.find(partition);
    const bool is_surely_given = !is_by_first || (script_.groups[group].reset == Reset::earliest &&
                                                  (beginning == diary.beginnings.end() || offset >= beginning->second.highest));
    const Written& newer = log_of(partition).records[static_cast<std::size_t>(offset)];
    const int came_from = provable_origin(partition, offset);
    for (int from = 0; from < diary_.count(); ++from) {
        const auto position = diary.committed.find(from);
        if (from == partition || position == diary.committed.end()) {
            continue;
        }
        const PartitionDiary& log = log_of(from);
        for (std::int64_t unread = std::max(position->second, log.start); unread < log.end(); ++unread) {
            const Written& older = log.records[static_cast<std::size_t>(unread)];
            if (older.key != newer.key || older.order > newer.order) {
                continue;
            }
            Inversion& inversion = diary.inversions[newer.key];
            inversion.from[from] = unread;
            inversion.to.insert(partition);
            // A group that goes back reads the older record once more.
            inversion.is_provable |= from == came_from && is_surely_given && unread >= diary.highest_committed[from];
        }
    }
}

// Returns where the key's record before this one lies, if this is the key's first record in its partition and a growth led it
// there; else -1.
int Player::provable_origin(int partition, std::int64_t offset) const {
    const Written& newer = diary_.partitions[static_cast<std::size_t>(partition)].records[static_cast<std::size_t>(offset)];
    int origin = -1;
    std::int64_t last = diary_.restarted_at_order - 1;
    std::map<int, int> first_epochs;
    for (int other = 0; other < diary_.count(); ++other) {
        for (const Written& record : diary_.partitions[static_cast<std::size_t>(other)].records) {
            if (record.key != newer.key || record.order >= newer.order) {
                continue;
            }
            if (other == partition) {
                return -1;
            }
            if (record.order < diary_.restarted_at_order) {
                continue;
            }
            first_epochs.try_emplace(other, record.epoch);
            if (record.order > last) {
                last = record.order;
                origin = other;
            }
        }
    }
    return origin >= 0 && first_epochs.at(origin) < newer.epoch ? origin : -1;
}

void Player::seek_back(const Step& step) {
    Consumer* consumer = open_member(step);
    if (consumer == nullptr || consumer->positions.empty()) {
        return;
    }
    const int partition = std::next(consumer->positions.begin(), step.amount % std::ssize(consumer->positions))->first;
    consumer->positions[partition] = log_of(partition).start;
    note("    to the beginning of " + std::to_string(partition));
    poll(static_cast<std::size_t>(step.who), static_cast<std::size_t>(step.member), kSmallFetchBytes);
}

void Player::close_member(std::size_t group, std::size_t member) {
    Consumer& consumer = groups_[group]->members[member];
    groups_[group]->driver.leave({consumer.client.get(), &consumer.membership});
    note_gone(group, member);
}

void Player::remove_member(std::size_t group, std::size_t member) {
    Consumer& consumer = groups_[group]->members[member];
    if (script_.groups[group].is_consumer_protocol) {
        return;
    }
    Client administrator(stage_.port(), {.client_id = "administrator", .address = "127.0.0.1"}, topic_);
    groups_[group]->driver.remove(administrator.coordinator(), {consumer.client.get(), &consumer.membership});
    note_gone(group, member);
    meet(group, {});
}

void Player::note_gone(std::size_t group, std::size_t member) {
    for (auto& [who, asked] : diary_.groups[group].without_offset) {
        if (asked.member != member || asked.is_gone) {
            continue;
        }
        asked.is_gone = true;
        ++asked.times_gone;
    }
    if (const auto& client = groups_[group]->members[member].client) {
        forget_kept_back(*client);
    }
    groups_[group]->members[member] = {};
    diary_.groups[group].members[member] = {};
}

void Player::close_early(const Step& step) {
    const auto group = static_cast<std::size_t>(step.who);
    const auto member = static_cast<std::size_t>(step.member);
    GroupDiary& diary = diary_.groups[group];
    diary.is_deleted = false;
    if (diary.open_members() == 0) {
        groups_[group]->known_count = diary_.count();
    }
    diary.members[member].is_open = true;
    meet(group, {step.member});
    if (!diary.members[member].is_open) {
        return;
    }
    if (!groups_[group]->members[member].membership.assigned.empty()) {
        (void)ask_for_offsets(group, member);
    }
    close_member(group, member);
    meet(group, {});
}

}  // namespace partita::test::histories
