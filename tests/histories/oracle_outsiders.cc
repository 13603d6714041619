// The findings about readers in no group that the broker must or may tell.

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "tests/histories/oracle_rules.h"

namespace partita::test::histories {

using namespace std::chrono_literals;

void Oracle::about_outsider(std::size_t index) {
    const Caller& caller = script_.outsiders[index].caller;
    // Outsiders with one name, host and process are one reader.
    if (std::ranges::find(script_.outsiders, caller, &OutsiderCast::caller) - script_.outsiders.begin() !=
        static_cast<std::ptrdiff_t>(index)) {
        return;
    }
    OutsiderDiary all;
    for (std::size_t other = index; other < script_.outsiders.size(); ++other) {
        if (!(script_.outsiders[other].caller == caller)) {
            continue;
        }
        for (const auto& [where, from] : diary_.outsiders[other].began_at) {
            const auto began = all.began_at.try_emplace(where, from).first;
            began->second = std::min(began->second, from);
        }
        all.last = std::max(all.last, diary_.outsiders[other].last);
    }
    if (all.began_at.empty()) {
        return;
    }
    // The broker says nothing about a connection that could be a member's. It does tell of a connection that continues with a
    // partition that no member of that name holds.
    const bool is_told = !is_name_of_a_member(caller);
    const std::string about = to_string(caller);
    const std::int64_t old_records = replayed(all);
    add("H07", about, is_told ? old_records : 1, old_records, is_told, "records from before a growth that it asked for after it");
    const Overtaken overtaken = overtaken_in(diary_.outsiders[index].given_since);
    const auto due = static_cast<std::int64_t>(overtaken.surely.size());
    // A member of its name may pass for it, and several of its name read everything several times.
    const auto most =
        is_told && !is_name_shared(caller.client_id) ? static_cast<std::int64_t>(overtaken.all.size()) : script_.keys;
    const bool is_due = is_told && overtaken.is_settled && !is_name_shared(caller.client_id) && due > 0;
    add("H06", about, is_due ? due : std::min<std::int64_t>(due, 1), most, is_due,
        "keys of which it was given a newer record first");
    add(kMaybeInverted, about, 1, script_.keys, false, "keys that are in two connections");
    std::set<int> partitions;
    for (const auto& [where, from] : all.began_at) {
        partitions.insert(where.second);
    }
    const auto missed = std::ranges::find_if(diary_.growths, [&](const Growth& growth) { return growth.from > all.highest(); });
    if (missed != diary_.growths.end() && all.last >= missed->time && diary_.now - missed->time >= kPatience) {
        const auto count = static_cast<std::int64_t>(partitions.size());
        add("H23", about, is_told ? count : 1, count, is_told && diary_.now - missed->time > kLatest,
            "old partitions that it reads, and no later one");
    }
    if (all.highest() >= diary_.first_count()) {
        add("H29", about, 1, 1, is_told, "reads new partitions in no group");
    }
    if (caller.client_id.ends_with("|replication-consumer")) {
        add("H48", about, 1, 1, is_told, "is called as mirrors are");
    }
}

// Each record once, however often the topic grew over it.
std::int64_t Oracle::replayed(const OutsiderDiary& outsider) const {
    std::map<int, std::set<std::int64_t>> records;
    for (const auto& [where, from] : outsider.began_at) {
        const auto& [epoch, partition] = where;
        const Growth& growth = diary_.growths[static_cast<std::size_t>(epoch) - 1];
        const std::int64_t cut = partition < growth.from ? growth.cut[static_cast<std::size_t>(partition)] : 0;
        for (std::int64_t offset = std::max(from, diary_.partitions[static_cast<std::size_t>(partition)].start); offset < cut;
             ++offset) {
            records[partition].insert(offset);
        }
    }
    std::int64_t count = 0;
    for (const auto& [partition, offsets] : records) {
        count += static_cast<std::int64_t>(offsets.size());
    }
    return count;
}

// A member has the client's name and host and everything that the client fetches. The member itself fetches over another
// connection: either may be the member.
bool Oracle::is_surely_one_of_several(const KeptBack& kept) const {
    // The broker asks the kernel who they are, and the answer before that is up to a second old.
    constexpr auto kToBeJudged = 5s;
    const auto is_judged = [&](const NewReading& reading) { return kept.time - reading.since > kToBeJudged; };
    const auto own = diary_.new_readings.find(kept.client);
    if (own == diary_.new_readings.end() || !is_judged(own->second) || !kept.is_sure) {
        return false;
    }
    for (std::size_t group = 0; group < diary_.groups.size(); ++group) {
        for (std::size_t index = 0; index < diary_.groups[group].members.size(); ++index) {
            const MemberDiary& member = diary_.groups[group].members[index];
            const auto other = diary_.new_readings.find(member.client);
            if (!member.is_open || member.client == kept.client || other == diary_.new_readings.end()) {
                continue;
            }
            if (script_.groups[group].members[index] == kept.caller && is_judged(other->second) &&
                std::ranges::includes(member.assigned, own->second.partitions)) {
                return true;
            }
        }
    }
    return false;
}

// H52: a client that the broker keeps from records for the sake of a member, though the client may not be that member. All
// clients of a history share one process and one machine. Only the client id tells them apart, and it tells a client with its own
// id apart at once.
void Oracle::held_readers() {
    constexpr auto kHeld = 10s;
    constexpr auto kToSettle = 5s;
    std::map<int, std::vector<const KeptBack*>> by_client;
    for (const KeptBack& kept : diary_.kept_back) {
        if (diary_.now - kept.time < kHeld + kToSettle) {
            by_client[kept.client].push_back(&kept);
        }
    }
    for (const auto& [client, kept] : by_client) {
        const Caller& caller = kept.front()->caller;
        std::int64_t members = 0;
        for (const GroupCast& group : script_.groups) {
            members += std::ranges::count(group.members, caller.client_id, &Caller::client_id);
        }
        const std::int64_t outsiders = std::ranges::count_if(
            script_.outsiders, [&](const OutsiderCast& cast) { return cast.caller.client_id == caller.client_id; });
        const auto partitions = static_cast<std::int64_t>(kept.size());
        const std::string about = to_string(caller);
        if (members > 0 && members + outsiders > 1) {
            constexpr auto kSurelyHeld = 7s;
            const bool is_due = std::ranges::any_of(kept, [&](const KeptBack* one) {
                return diary_.now - one->time < kSurelyHeld && is_surely_one_of_several(*one);
            });
            add("H52", about, 1, partitions, is_due, "is kept from new partitions, and others have its name");
        } else if (members == 0) {
            // The broker tells of every reader in no group that it keeps from records, and this one is surely in none.
            const auto surely = std::ranges::count_if(kept, [](const KeptBack* one) { return one->is_sure; });
            if (surely > 0) {
                add("unfenced", about, surely, surely, true,
                    "is surely in no group, and is kept from new partitions all the same");
            }
        }
    }
}

}  // namespace partita::test::histories
