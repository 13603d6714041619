#include "broker/insight/readers/auto_resets.h"

#include <algorithm>
#include <iterator>

#include "broker/insight/findings/sentence_numbers.h"

namespace partita::insight {
namespace {

constexpr std::int64_t kLatest = -1;
constexpr std::size_t kResetGroupsNamedMax = 8;

template <class Map>
void drop_one_above(Map& map, std::size_t most) {
    if (map.size() > most) {
        map.erase(map.begin());
    }
}

std::string to_string(const ClientIdentity& client) { return client.client_id + " (" + client.address + ")"; }

std::string names(const std::vector<std::string>& groups) {
    std::string text;
    for (std::size_t index = 0; index < groups.size() && index < kResetGroupsNamedMax; ++index) {
        text += (index == 0 ? "group " : ", group ") + groups[index];
    }
    return groups.size() > kResetGroupsNamedMax ? text + " and " + std::to_string(groups.size() - kResetGroupsNamedMax) + " more"
                                                : text;
}

std::string how_many(const RecordCount& records) { return (records.is_exact ? "" : "up to ") + std::to_string(records.records); }

/// "the first 7 records", "the first records, up to 7,".
std::string the_first(const RecordCount& records) {
    return records.is_exact ? "the first " + counted(records, "record") : "the first records, " + how_many(records) + ",";
}

std::vector<FindingNumber> numbers_of(const RecordCount& skipped, std::int64_t partitions) {
    return {{"skipped_records", skipped.records}, {"partitions", partitions}, {"is_exact", skipped.is_exact ? 1 : 0}};
}

}  // namespace

void AutoResets::on_offset_fetch(std::string_view group, ConnectionId speaker, bool is_member, const ClientIdentity& client,
                                 PartitionIndex partition, Offset committed, TimestampMs now) {
    AskKey key(client, partition, group);
    if (committed != kNoOffset) {
        asks_.erase(key);
        return;
    }
    Ask& ask = asks_[std::move(key)];
    ask.is_gone = false;
    ask.asked = now;
    ask.speaker = speaker;
    ask.is_member |= is_member;
    if (asks_.size() > kAsksMax) {
        // It will not be known where the client begins. That may hide what its group skips later, but makes no finding false.
        const auto& [other, place, other_group] = asks_.begin()->first;
        note_beginning(other_group, place, Offset{0});
        asks_.erase(asks_.begin());
    }
}

void AutoResets::on_leave(std::string_view group, ConnectionId speaker, const ClientIdentity& client) {
    for (auto ask = asks_.lower_bound({client, {}, {}}); ask != asks_.end() && std::get<0>(ask->first) == client; ++ask) {
        if (std::get<2>(ask->first) == group && ask->second.speaker == speaker) {
            ask->second.goes();
        }
    }
}

void AutoResets::on_list_offsets(const ClientIdentity& client, PartitionIndex partition, std::int64_t timestamp,
                                 Offset answered) {
    auto ask = asks_.lower_bound({client, partition, {}});
    const auto is_own = [&] {
        return ask != asks_.end() && std::get<0>(ask->first) == client && std::get<1>(ask->first) == partition;
    };
    if (!is_own()) {
        return;
    }
    for (; is_own(); ++ask) {
        // A lag monitor also asks for the end of a log.
        if (ask->second.is_member) {
            note_resetting(std::get<2>(ask->first));
        }
    }
    // A client that asked for a time and found no record then asks for the end.
    const bool is_start = answered != kNoOffset && (timestamp == kLatest || timestamp >= 0);
    if (!is_start) {
        return;
    }
    std::vector<Listing>& listings = listings_[{client, partition}];
    if (listings.size() == kListingsPerClientMax) {
        listings.erase(listings.begin());
    }
    listings.push_back({answered, timestamp == kLatest ? ResetWay::latest : ResetWay::by_time});
    drop_one_above(listings_, kListingsMax);
}

void AutoResets::on_fetch(ConnectionId connection, const ClientIdentity& client, PartitionIndex partition, Offset from,
                          bool is_first, TimestampMs now) {
    const bool may_be_skipped = skips_.may_be_skipped(partition, from);
    if (may_be_skipped) {
        skips_.connection_reads(connection, partition, from);
    }
    if (may_be_skipped || is_behind_a_start(connection, partition, from)) {
        if (returns_.size() < kReturnsMax) {
            returns_.push_back({connection, partition, from, now});
        } else {
            forget_behind(partition, from);
        }
    }
    // A client that goes back before its start was settled skips nothing either.
    for (Start& start : starts_) {
        if (is_first || start.connection != connection || start.partition != partition || from >= start.from) {
            continue;
        }
        start.from = from;
        start.skips = false;
    }
    std::vector<std::string> groups;
    for (auto ask = asks_.lower_bound({client, partition, {}});
         ask != asks_.end() && std::get<0>(ask->first) == client && std::get<1>(ask->first) == partition; ++ask) {
        const std::string& group = std::get<2>(ask->first);
        if (ask->second.is_member) {
            note_resetting(group);
        }
        if (now.value - ask->second.asked.value <= kBeginMs) {
            groups.push_back(group);
        }
    }
    if (groups.empty()) {
        return;
    }
    // A lag monitor also asks for the end, but does not fetch from there.
    const Listing* told = nullptr;
    if (const auto listings = listings_.find({client, partition}); listings != listings_.end() && from > Offset{0}) {
        const auto listing = std::ranges::find(listings->second.rbegin(), listings->second.rend(), from, &Listing::offset);
        if (listing != listings->second.rend()) {
            told = &*listing;
        }
    }
    // A reader that continues with a partition does not begin there, even at an end that another client was told. But the answer
    // may have been its own, and it begins anew; then it did not get the records between.
    if (!is_first) {
        if (told == nullptr) {
            return;
        }
        for (const std::string& group : groups) {
            note_last_start(group, partition, from);
        }
        return;
    }
    Start start{.connection = connection,
                .client = client,
                .partition = partition,
                .from = from,
                .time = now,
                .groups = std::move(groups)};
    start.skips = told != nullptr;
    if (told != nullptr) {
        start.way = told->way;
    }
    if (starts_.size() < (start.skips ? kStartsMax : kPlainStartsMax)) {
        starts_.push_back(std::move(start));
    } else {
        // It will not be known which group this start belongs to. Each of them may have read from there. That may hide what it
        // skips later, but makes no finding false.
        for (const std::string& group : start.groups) {
            note_beginning(group, partition, from);
            note_last_start(group, partition, from);
        }
    }
}

bool AutoResets::is_behind_a_start(ConnectionId connection, PartitionIndex partition, Offset from) const {
    return std::ranges::any_of(starts_, [&](const Start& start) {
        return start.skips && start.partition == partition && from < start.from && start.connection != connection;
    });
}

void AutoResets::on_commit(const std::string& group, PartitionIndex partition, Offset offset) {
    group_goes_to(group, partition, offset);
    if (starts_.empty()) {
        return;
    }
    Offset& lowest = commits_.try_emplace({partition, group}, offset).first->second;
    lowest = std::min(lowest, offset);
}

void AutoResets::settle(const ReaderFacts& facts, GroupIndex& groups, ReaderOwners& owners, TimestampMs now) {
    note_grown_groups(facts);
    for (Start& start : starts_) {
        // A group that commits below the start did not begin there.
        for (auto* const groups : {&start.groups, &start.newcomers}) {
            std::erase_if(*groups, [&](const std::string& group) {
                const auto lowest = commits_.find({start.partition, group});
                return lowest != commits_.end() && lowest->second < start.from;
            });
        }
    }
    commits_.clear();
    // A client that went back before it was known where it began skips nothing.
    std::erase_if(returns_, [&](const Return& back) { return settle_return(back, owners, now); });
    settle_starts(facts, owners, now);
    skips_.erase_if([&](const auto& skip) { return offset_at(facts.log_starts, skip.first.first) >= skip.second.from; });
    settle_asks(groups, now);
}

void AutoResets::note_beginning(const std::string& group, PartitionIndex partition, Offset from) {
    if (const auto known = lowest_.find({partition, group}); known != lowest_.end()) {
        known->second = std::min(known->second, from);
    } else if (lowest_.size() < kBeginningsMax) {
        lowest_.emplace(std::pair(partition, group), from);
    } else {
        is_beginning_lost_ = true;
    }
}

void AutoResets::note_last_start(const std::string& group, PartitionIndex partition, Offset from) {
    if (const auto known = last_starts_.find({partition, group}); known != last_starts_.end()) {
        known->second = std::max(known->second, from);
    } else if (last_starts_.size() < kLastStartsMax) {
        last_starts_.emplace(std::pair(partition, group), from);
    } else {
        is_last_start_lost_ = true;
    }
}

bool AutoResets::may_have_begun_at(const std::string& group, PartitionIndex partition, Offset from) const {
    const auto lowest = lowest_.find({partition, group});
    return lowest == lowest_.end() ? is_beginning_lost_ : lowest->second <= from;
}

void AutoResets::forget_behind(PartitionIndex partition, Offset from) {
    skips_.erase_if([&](const auto& skip) {
        const auto& [place, group] = skip.first;
        if (place != partition || from >= skip.second.from) {
            return false;
        }
        note_beginning(group, partition, from);
        return true;
    });
    for (Start& start : starts_) {
        if (start.partition != partition || from >= start.from) {
            continue;
        }
        for (const std::string& group : start.groups) {
            note_beginning(group, partition, from);
        }
        start.from = from;
        start.skips = false;
    }
}

void AutoResets::note_resetting(const std::string& group) {
    if (resetting_.size() < kResettingMax) {
        resetting_.insert(group);
    } else if (!resetting_.contains(group)) {
        is_resetting_lost_ = true;
    }
}

void AutoResets::group_goes_to(const std::string& group, PartitionIndex partition, Offset offset) {
    skips_.group_goes_to(group, partition, offset);
    if (const auto lowest = lowest_.find({partition, group}); lowest != lowest_.end()) {
        lowest->second = std::min(lowest->second, offset);
    }
}

bool AutoResets::may_have_gone_back(const Start& start, ReaderOwners& owners, TimestampMs now) const {
    return std::ranges::any_of(returns_, [&](const Return& back) {
        const bool is_behind = back.partition == start.partition && back.from < start.from && back.time >= start.time;
        // A client that reads from the beginning again and again must not delay findings for long.
        if (!is_behind || back.time.value - start.time.value > kEvidenceMs) {
            return false;
        }
        const ReaderOwner& owner = owners.of(back.connection);
        if (now.value - back.time.value >= kJudgeMs && !owner.may_change) {
            return false;
        }
        return owner.kind != Attribution::Kind::no_group &&
               (owner.groups.empty() || std::ranges::any_of(start.groups, [&](const std::string& group) {
                    return std::ranges::binary_search(owner.groups, group);
                }));
    });
}

void AutoResets::settle_start_of(const std::string& group, const Start& start) {
    const auto lowest = lowest_.find({start.partition, group});
    const Offset from = lowest == lowest_.end() ? start.from : std::min(start.from, lowest->second);
    const bool may_skip = start.skips && !may_have_begun_at(group, start.partition, Offset{0});
    if (may_skip) {
        skips_.add(group, start.partition, {start.client, start.connection, from, start.way});
    }
    note_beginning(group, start.partition, start.from);
    // The group may have begun there before the start that was reported first.
    skips_.group_goes_to(group, start.partition, start.from);
    asks_.erase({start.client, start.partition, group});
}

// In the order of the starts: the first start of a group decides what it skipped later, and a later start must not take its
// place.
void AutoResets::settle_starts(const ReaderFacts& facts, ReaderOwners& owners, TimestampMs now) {
    std::vector<Start> open;
    open.reserve(starts_.size());
    std::set<std::pair<PartitionIndex, std::string>> undecided;
    for (Start& start : starts_) {
        const bool is_behind_another = !start.is_ambiguous && std::ranges::any_of(start.groups, [&](const std::string& group) {
            return undecided.contains({start.partition, group});
        });
        if (!is_behind_another && settle_start(start, facts, owners, now)) {
            continue;
        }
        if (!start.is_ambiguous) {
            for (const std::string& group : start.groups) {
                undecided.emplace(start.partition, group);
            }
        }
        open.push_back(std::move(start));
    }
    starts_ = std::move(open);
}

bool AutoResets::settle_start(Start& start, const ReaderFacts& facts, ReaderOwners& owners, TimestampMs now) {
    // Retention removed the records before it.
    start.skips = start.skips && offset_at(facts.log_starts, start.partition) < start.from;
    if (start.is_ambiguous && !start.skips) {
        return true;
    }
    std::erase_if(start.groups, [&](const std::string& group) {
        if (read_before(group, start.partition)) {
            return false;
        }
        start.newcomers.push_back(group);
        return true;
    });
    if (start.groups.empty() && start.newcomers.empty()) {
        return true;
    }
    if (start.skips && !start.is_ambiguous && may_have_gone_back(start, owners, now)) {
        return false;
    }
    const ReaderOwner& owner = owners.of(start.connection);
    const std::int64_t age_ms = now.value - start.time.value;
    const bool has_evidence = !owner.may_change || age_ms >= kEvidenceMs;
    if (owner.kind == Attribution::Kind::no_group) {
        return has_evidence && age_ms >= kJudgeMs;
    }
    if (owner.kind == Attribution::Kind::member && has_evidence) {
        if (owner.basis == AttributionBasis::elimination && age_ms < kJudgeMs) {
            return false;
        }
        const std::string& group = owner.groups.front();
        const bool was_there = std::ranges::find(start.groups, group) != start.groups.end();
        if (was_there) {
            settle_start_of(group, start);
        }
        if (was_there || std::ranges::find(start.newcomers, group) != start.newcomers.end()) {
            note_last_start(group, start.partition, start.from);
        }
        return true;
    }
    if (!has_evidence || age_ms < kJudgeMs) {
        return false;
    }
    for (auto* const groups : {&start.groups, &start.newcomers}) {
        std::erase_if(*groups, [&](const std::string& group) {
            return !owner.groups.empty() && !std::ranges::binary_search(owner.groups, group);
        });
    }
    for (const auto* const groups : {&start.groups, &start.newcomers}) {
        for (const std::string& group : *groups) {
            note_last_start(group, start.partition, start.from);
        }
    }
    start.newcomers.clear();
    if (!start.is_ambiguous) {
        // A group that had begun at the start of the log has skipped nothing.
        std::erase_if(start.groups, [&](const std::string& group) {
            return may_have_begun_at(group, start.partition, offset_at(facts.log_starts, start.partition));
        });
        // If there are several groups, one of them began there and the others did not.
        if (start.groups.size() == 1) {
            note_beginning(start.groups.front(), start.partition, start.from);
        }
    }
    start.is_ambiguous = true;
    return start.groups.empty() || !start.skips;
}

bool AutoResets::settle_return(const Return& back, ReaderOwners& owners, TimestampMs now) {
    const ReaderOwner& owner = owners.of(back.connection);
    const std::int64_t age_ms = now.value - back.time.value;
    if (owner.may_change && age_ms < kEvidenceMs) {
        return false;
    }
    if (owner.kind == Attribution::Kind::member && owner.basis == AttributionBasis::elimination && age_ms < kJudgeMs) {
        return false;
    }
    // The return of a client in no group, or of one that may be in none, proves nothing.
    if (owner.kind == Attribution::Kind::member) {
        const std::string& group = owner.groups.front();
        group_goes_to(group, back.partition, back.from);
        for (Start& start : starts_) {
            const bool is_behind = start.partition == back.partition && back.from < start.from && start.time <= back.time;
            if (!is_behind || start.connection == back.connection) {
                continue;
            }
            std::erase(start.groups, group);
            std::erase(start.newcomers, group);
        }
    }
    return owner.kind == Attribution::Kind::member || age_ms >= kEvidenceMs;
}

void AutoResets::settle_asks(GroupIndex& groups, TimestampMs now) {
    for (auto& [key, ask] : asks_) {
        const auto& [client, partition, group] = key;
        // A client that is gone stays gone: a later client of that name asks anew.
        if (!groups.has_client(group, client) && !groups.holds(group, partition) && now > ask.asked) {
            ask.goes();
        }
    }
}

void AutoResets::on_growth(std::int32_t first_partition, const std::set<std::string>& readers) {
    grown_[first_partition] = readers;
    drop_one_above(grown_, kGrowthsMax);
}

// For a group that came after a growth, the new partitions are as old as all others: it chose where to begin.
void AutoResets::note_grown_groups(const ReaderFacts& facts) {
    for (const EarlierExpansion& growth : facts.growths) {
        const bool is_forgotten = grown_.size() == kGrowthsMax && growth.old_count < grown_.begin()->first;
        if (is_forgotten || grown_.contains(growth.old_count)) {
            continue;
        }
        std::set<std::string> readers;
        for (const GroupFacts& group : facts.groups) {
            if (readers.size() < kGrownGroupsMax) {
                readers.insert(group.group_id);
            }
        }
        on_growth(growth.old_count, readers);
    }
}

bool AutoResets::read_before(const std::string& group, PartitionIndex partition) const {
    const auto later = grown_.upper_bound(partition.value);
    // Growths that were forgotten are long past.
    return later != grown_.begin() && std::prev(later)->second.contains(group);
}

AutoResets::Delivery AutoResets::delivery_of(const std::string& group, PartitionIndex partition, Offset offset) const {
    const auto last = last_starts_.find({partition, group});
    if (last != last_starts_.end() && offset < last->second) {
        return Delivery::skipped;
    }
    const auto may_be_its = [&](const Start& start) {
        return start.partition == partition && offset < start.from &&
               (std::ranges::find(start.groups, group) != start.groups.end() ||
                std::ranges::find(start.newcomers, group) != start.newcomers.end());
    };
    if (std::ranges::any_of(starts_, may_be_its)) {
        return Delivery::undecided;
    }
    return last == last_starts_.end() && is_last_start_lost_ ? Delivery::undecided : Delivery::given;
}

void AutoResets::find_skips(const std::string& topic, const ReaderFacts& facts, std::vector<Finding>& findings) const {
    struct Lost {
        RecordCount records;
        RecordCount by_time;
        std::vector<RecordPlace> last;
        const SkipTable::Skip* example = nullptr;
    };
    std::map<std::string, Lost> by_group;
    for (const auto& [where, skip] : skips_.all()) {
        const auto& [partition, group] = where;
        const Offset start = offset_at(facts.log_starts, partition);
        if (skip.from <= start) {
            continue;
        }
        const RecordCount records = records_between(facts, partition, start, skip.from);
        if (records.records == 0) {
            continue;
        }
        Lost& lost = by_group[group];
        lost.records += records;
        if (skip.way == ResetWay::by_time) {
            lost.by_time += records;
        }
        lost.last.push_back({partition, Offset{skip.from.value - 1}});
        lost.example = &skip;
    }
    for (const auto& [group, lost] : by_group) {
        const auto partitions = static_cast<std::int64_t>(lost.last.size());
        Finding finding = make_finding(
            HazardId::latest_loses_first_records, {.topic = topic, .group = group, .client_id = lost.example->client.client_id},
            "group " + group + " never read " + the_first(lost.records) + " of " + counted(partitions, "new partition") +
                ": it had no committed offset there and began " +
                (lost.by_time.records == 0      ? "at the end"
                 : lost.by_time == lost.records ? "at a requested time, as auto.offset.reset=by_duration does"
                                                : "at the end or, for " + how_many(lost.by_time) +
                                                      " of them, at a requested time, as auto.offset.reset=by_duration does") +
                " (" + to_string(lost.example->client) + ")",
            lost.records.records);
        // Such a group has said itself that it wants no older records.
        if (lost.by_time == lost.records) {
            finding.severity = Severity::warn;
        }
        finding.numbers = numbers_of(lost.records, partitions);
        for (const RecordPlace& place : lost.last) {
            finding.add_evidence(place.partition, place.offset);
        }
        findings.push_back(std::move(finding));
    }
    find_ambiguous_skips(topic, facts, findings);
}

// One of several groups skipped the records, so the finding accuses none of them.
void AutoResets::find_ambiguous_skips(const std::string& topic, const ReaderFacts& facts, std::vector<Finding>& findings) const {
    struct Lost {
        std::map<PartitionIndex, Offset> skipped_to;
        std::vector<std::string> groups;
        /// There were several starts in one partition: each may be another group's loss.
        bool has_several = false;
    };
    std::map<ClientIdentity, Lost> by_client;
    for (const Start& start : starts_) {
        if (!start.is_ambiguous) {
            continue;
        }
        Lost& lost = by_client[start.client];
        const auto [skipped_to, is_first] = lost.skipped_to.try_emplace(start.partition, start.from);
        lost.has_several = lost.has_several || !is_first;
        skipped_to->second = std::max(skipped_to->second, start.from);
        lost.groups.insert(lost.groups.end(), start.groups.begin(), start.groups.end());
    }
    for (auto& [client, lost] : by_client) {
        std::ranges::sort(lost.groups);
        const auto repeated = std::ranges::unique(lost.groups);
        lost.groups.erase(repeated.begin(), repeated.end());
        RecordCount records;
        std::int64_t partitions = 0;
        for (const auto& [partition, skipped_to] : lost.skipped_to) {
            const Offset start = offset_at(facts.log_starts, partition);
            const RecordCount skipped = start < skipped_to ? records_between(facts, partition, start, skipped_to) : RecordCount{};
            records += skipped;
            partitions += skipped.records > 0 ? 1 : 0;
        }
        if (records.records == 0) {
            continue;
        }
        Finding finding = make_finding(HazardId::latest_loses_first_records,
                                       {.topic = topic,
                                        .group = lost.groups.size() == 1 ? lost.groups.front() : "",
                                        .client_id = client.client_id,
                                        .client_address = client.address},
                                       "a client called " + to_string(client) + " began after " + the_first(records) + " of " +
                                           counted(partitions, "new partition") + ": it is one of " + names(lost.groups) +
                                           ", or a reader in no group that shares the name" +
                                           (lost.has_several ? "; it began several times, or several of them lost records" : ""),
                                       records.records);
        finding.severity = Severity::warn;
        finding.advice =
            "Give each application its own client.id; on the broker's machine, let the broker see which process owns a socket.";
        // The largest loss stands for all: another group of the name may have lost as much.
        finding.numbers = numbers_of({.records = records.records, .is_exact = records.is_exact && !lost.has_several}, partitions);
        for (const auto& [partition, skipped_to] : lost.skipped_to) {
            finding.add_evidence(partition, Offset{skipped_to.value - 1});
        }
        findings.push_back(std::move(finding));
    }
}

void AutoResets::find_crashes(const std::string& topic, LookTime& time, std::vector<Finding>& findings) const {
    if (is_resetting_lost_) {
        return;
    }
    struct Crashed {
        /// The one that was proven first, so that the finding keeps its subject.
        const ClientIdentity* client = nullptr;
        TimestampMs proven = kNoTimestamp;
        int times = 0;
        /// The number of partitions of each client.
        std::map<ClientIdentity, std::int64_t> clients;
    };
    std::map<std::string, Crashed> by_group;
    for (const auto& [key, ask] : asks_) {
        const auto& [client, partition, group] = key;
        const bool may_have_crashed = ask.is_member && ask.crashes >= kCrashesMin && !resetting_.contains(group);
        // A group that came after the growth lacks offsets in every partition, so the growth is not the cause.
        if (!may_have_crashed || !read_before(group, partition) || !time.has_passed(ask.proven, kNoneCrashMs)) {
            continue;
        }
        Crashed& crashed = by_group[group];
        if (crashed.client == nullptr || ask.proven < crashed.proven) {
            crashed.client = &client;
            crashed.proven = ask.proven;
        }
        crashed.times = std::max(crashed.times, ask.crashes);
        ++crashed.clients[client];
    }
    for (const auto& [group, crashed] : by_group) {
        const auto clients = static_cast<std::int64_t>(crashed.clients.size());
        const std::int64_t partitions = crashed.clients.at(*crashed.client);
        Finding finding =
            make_finding(HazardId::none_crashes, {.topic = topic, .group = group, .client_id = crashed.client->client_id},
                         to_string(*crashed.client) + " of group " + group + " came " + std::to_string(crashed.times) +
                             " times, found no committed offset for " + counted(partitions, "new partition") +
                             ", and left each time without asking where to begin: auto.offset.reset=none stops there",
                         clients);
        finding.numbers = {{"clients", clients}, {"partitions", partitions}};
        findings.push_back(std::move(finding));
    }
}

void AutoResets::forget_group(const std::string& group) {
    std::erase_if(asks_, [&](const auto& ask) { return std::get<2>(ask.first) == group; });
    skips_.erase_if([&](const auto& skip) { return skip.first.second == group; });
    for (Start& start : starts_) {
        std::erase(start.groups, group);
        std::erase(start.newcomers, group);
    }
    std::erase_if(last_starts_, [&](const auto& last) { return last.first.second == group; });
    std::erase_if(commits_, [&](const auto& commit) { return commit.first.second == group; });
    std::erase_if(lowest_, [&](const auto& lowest) { return lowest.first.second == group; });
    for (auto& [partition, readers] : grown_) {
        readers.erase(group);
    }
    resetting_.erase(group);
}

void AutoResets::add_groups_told(std::set<std::string>& groups) const {
    for (const auto& [where, skip] : skips_.all()) {
        groups.insert(where.second);
    }
    for (const Start& start : starts_) {
        groups.insert(start.groups.begin(), start.groups.end());
        groups.insert(start.newcomers.begin(), start.newcomers.end());
    }
    for (const auto& [where, last] : last_starts_) {
        groups.insert(where.second);
    }
    for (const auto& [key, ask] : asks_) {
        groups.insert(std::get<2>(key));
    }
}

}  // namespace partita::insight
