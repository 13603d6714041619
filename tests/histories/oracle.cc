#include "tests/histories/oracle.h"

#include <algorithm>
#include <set>

namespace partita::test::histories {
namespace {

using namespace std::chrono_literals;

/// Rules that wait for ten seconds, as the documentation says; they may be judged a little earlier or later.
constexpr auto kPatience = 10s;
constexpr auto kLatest = 13s;
/// Distinct keys after which a partitioner is told.
constexpr std::size_t kKeysToKnow = 40;

class Oracle {
  public:
    Oracle(const Script& script, const Diary& diary, const std::string& unique, bool is_everything_seen)
        : script_(script), diary_(diary), unique_(unique), sees_all_(is_everything_seen) {}

    std::vector<Claim> claims() {
        if (diary_.is_deleted) return {};
        keys_in_two_partitions();
        missed_tombstones();
        mixed_partitioners();
        ignored_keys();
        if (!diary_.growths.empty()) {
            stale_producers();
            orphans();
            for (std::size_t group = 0; group < script_.groups.size(); ++group) about_group(group);
            for (std::size_t outsider = 0; outsider < script_.outsiders.size(); ++outsider) about_outsider(outsider);
        }
        return claims_;
    }

  private:
    /// What is said of keys by a broker that was too busy to look at every record is said of those that it looked at.
    [[nodiscard]] std::int64_t of_keys(std::int64_t most) const { return sees_all_ ? most : std::max<std::int64_t>(diary_.records, 1); }
    void add(std::string id, std::string about, std::int64_t least, std::int64_t most, bool is_due, std::string why) {
        if (most > 0) claims_.push_back({std::move(id), std::move(about), least, most, is_due && least > 0, std::move(why)});
    }

    void about_group(std::size_t index);
    void backlog(const std::string& name, const GroupDiary& group);
    void skipped(const std::string& name, const GroupDiary& group);
    void stopped(const std::string& name, std::size_t index);
    void blind(const std::string& name, const GroupDiary& group);
    void due_rebalance(const std::string& name, const GroupDiary& group);
    void about_outsider(std::size_t index);
    void stale_producers();
    void keys_in_two_partitions();
    void mixed_partitioners();
    void ignored_keys();
    void orphans();
    void missed_tombstones();

    [[nodiscard]] bool is_also_a_member(const Caller& caller) const {
        return std::ranges::any_of(script_.groups, [&](const GroupCast& group) {
            return std::ranges::find(group.members, caller) != group.members.end();
        });
    }
    /// Other producers with the same name are one to whoever goes by names.
    [[nodiscard]] std::vector<std::size_t> producers_called(const Caller& caller) const {
        std::vector<std::size_t> same;
        for (std::size_t index = 0; index < script_.producers.size(); ++index) {
            if (script_.producers[index].caller == caller) same.push_back(index);
        }
        return same;
    }
    /// Distinct keys that the producer sent at the epoch, as far as the broker can remember.
    [[nodiscard]] std::set<int> keys_of(std::size_t producer, int epoch) const {
        std::set<int> keys;
        for_each_record([&](int, std::int64_t, const Written& record) {
            if (static_cast<std::size_t>(record.producer) == producer && record.epoch == epoch && is_remembered(record)) keys.insert(record.key);
        });
        return keys;
    }
    [[nodiscard]] bool is_remembered(const Written& record) const { return record.order >= diary_.restarted_at_order; }
    template <class Visit>
    void for_each_record(Visit visit) const {
        for (std::size_t partition = 0; partition < diary_.partitions.size(); ++partition) {
            const PartitionDiary& log = diary_.partitions[partition];
            for (std::size_t offset = 0; offset < log.records.size(); ++offset) {
                visit(static_cast<int>(partition), static_cast<std::int64_t>(offset), log.records[offset]);
            }
        }
    }
    /// A record that lies where only an old count puts it.
    [[nodiscard]] bool is_stale(const Written& record, int partition) const {
        const Placing placing = script_.producers[static_cast<std::size_t>(record.producer)].placing;
        return placing != Placing::at_random && record.count < diary_.count() && place(placing, key_text(record.key), diary_.count()) != partition;
    }
    /// The same, whatever rule of the hash is looked at.
    [[nodiscard]] bool is_surely_stale(const Written& record, int partition) const {
        const Placing placing = script_.producers[static_cast<std::size_t>(record.producer)].placing;
        return is_stale(record, partition) && std::ranges::count(places_of_siblings(placing, key_text(record.key), record.count), partition) == 3 &&
               std::ranges::count(places_of_siblings(placing, key_text(record.key), diary_.count()), partition) == 0;
    }
    /// The producer's partitioner was told before it sent anything at this epoch, beyond doubt.
    [[nodiscard]] bool is_surely_known(std::size_t producer) const;
    [[nodiscard]] bool is_told_at_some_epoch(std::size_t producer) const;
    /// In one of the epochs before `end_epoch` it sent keys enough by one count.
    [[nodiscard]] bool is_told_before(std::size_t producer, int end_epoch) const;
    [[nodiscard]] bool is_move_explained(int key) const;

    const Script& script_;
    const Diary& diary_;
    const std::string& unique_;
    const bool sees_all_;
    std::vector<Claim> claims_;
};

// Groups ---------------------------------------------------------------------------------------------

void Oracle::about_group(std::size_t index) {
    const GroupDiary& group = diary_.groups[index];
    if (group.is_deleted) return;
    const std::string name = script_.groups[index].name + unique_;
    backlog(name, group);
    skipped(name, group);
    stopped(name, index);
    blind(name, group);
    due_rebalance(name, group);
    std::int64_t inverted = 0;
    std::int64_t surely = 0;
    for (const auto& [key, inversion] : group.inversions) {
        if (inversion.older < diary_.partitions[static_cast<std::size_t>(inversion.from)].start) continue;
        ++inverted;
        surely += inversion.is_of_different_counts ? 1 : 0;
    }
    add("H06", name, sees_all_ ? surely : 0, inverted, true, "keys of which it committed beyond the newer record first");
    const auto seeds = static_cast<std::int64_t>(group.seeded.size());
    add("H30", name, seeds, seeds, true, "seeded partitions without a commit");
}

// H03: by growth, for a partition can be old to one and new to another.
void Oracle::backlog(const std::string& name, const GroupDiary& group) {
    std::map<int, std::int64_t> left;
    for (const Growth& growth : diary_.growths) {
        bool reads_new = false;
        for (int partition = growth.from; partition < growth.to; ++partition) {
            const auto committed = group.committed.find(partition);
            reads_new |= group.holds(partition) || (committed != group.committed.end() && committed->second > 0);
        }
        for (int partition = 0; reads_new && partition < growth.from; ++partition) {
            const auto committed = group.committed.find(partition);
            if (committed == group.committed.end()) continue;
            const std::int64_t position = std::max(committed->second, diary_.partitions[static_cast<std::size_t>(partition)].start);
            const std::int64_t unread = growth.cut[static_cast<std::size_t>(partition)] - position;
            left[partition] = std::max({left[partition], unread, std::int64_t{0}});
        }
    }
    std::int64_t records = 0;
    for (const auto& [partition, unread] : left) records += unread;
    add("H03", name, records, records, true, "committed less than the cut of old partitions, and reads new ones");
}

// H20: what lies before the place where the group began, and nobody of it was given.
void Oracle::skipped(const std::string& name, const GroupDiary& group) {
    std::int64_t records = 0;
    for (const auto& [partition, from] : group.began_at) {
        const auto given = group.given.find(partition);
        for (std::int64_t offset = diary_.partitions[static_cast<std::size_t>(partition)].start; offset < from; ++offset) {
            records += given == group.given.end() || !given->second.contains(offset) ? 1 : 0;
        }
    }
    add("H20", name, records, records, true, "records of new partitions before the place where the group began, given to none of it");
}

// H21: clients that went because there was no offset. One that nobody could tell from such a client may be told.
void Oracle::stopped(const std::string& name, std::size_t index) {
    const GroupDiary& group = diary_.groups[index];
    std::set<Caller> surely;
    std::set<Caller> perhaps;
    for (const auto& [who, asked] : group.without_offset) {
        const auto& [client, partition] = who;
        const auto waited = diary_.now - asked.asked;
        if (!asked.stopped_for_it || group.holds(partition) || waited < kPatience) continue;
        perhaps.insert(client);
        if (waited > kLatest) surely.insert(client);
    }
    // A member of the same name that is there is the same to whoever goes by names.
    const GroupCast& cast = script_.groups[index];
    for (std::size_t member = 0; member < cast.members.size(); ++member) {
        if (group.members[member].is_open) surely.erase(cast.members[member]);
    }
    add("H21", name, static_cast<std::int64_t>(surely.size()), static_cast<std::int64_t>(perhaps.size()), true,
        "clients with auto.offset.reset=none that found no offset and left");
}

// H22: new partitions with records that nobody of a group with members has.
void Oracle::blind(const std::string& name, const GroupDiary& group) {
    const bool is_assigned = std::ranges::any_of(group.members, [](const MemberDiary& member) { return member.is_open && !member.assigned.empty(); });
    if (!is_assigned) return;
    std::int64_t due = 0;
    std::int64_t all = 0;
    for (int partition = diary_.first_count(); partition < diary_.count(); ++partition) {
        if (group.holds(partition)) continue;
        const PartitionDiary& log = diary_.partitions[static_cast<std::size_t>(partition)];
        const auto committed = group.committed.find(partition);
        const std::int64_t waiting = log.end() - std::max(committed == group.committed.end() ? 0 : committed->second, log.start);
        const auto age = diary_.now - diary_.born(partition);
        if (waiting <= 0 || age < kPatience) continue;
        all += waiting;
        due += age > kLatest ? waiting : 0;
    }
    add("H22", name, due, all, true, "records in new partitions that no member has");
}

// H24: members, none of which has a partition of the last growth.
void Oracle::due_rebalance(const std::string& name, const GroupDiary& group) {
    const Growth& last = diary_.growths.back();
    bool holds_new = false;
    for (int partition = last.from; partition < last.to; ++partition) holds_new |= group.holds(partition);
    const int members = group.open_members();
    if (!holds_new) add("H24", name, members, members, true, "members, none of which has a partition of the last growth");
}

// Readers in no group --------------------------------------------------------------------------------

void Oracle::about_outsider(std::size_t index) {
    const OutsiderCast& cast = script_.outsiders[index];
    const OutsiderDiary& outsider = diary_.outsiders[index];
    const std::string about = to_string(cast.caller);
    // By its name it is somebody else as well: what is told may be of the other one, or not be told.
    const bool is_alone = !is_also_a_member(cast.caller) && std::ranges::count(script_.outsiders, cast.caller, &OutsiderCast::caller) == 1;
    std::int64_t old_records = 0;
    for (const auto& [partition, from] : outsider.began_at) {
        const std::int64_t begin = std::max(from, diary_.partitions[static_cast<std::size_t>(partition)].start);
        old_records += std::max<std::int64_t>(0, diary_.growths.back().cut[static_cast<std::size_t>(partition)] - begin);
    }
    add("H07", about, is_alone ? old_records : 1, is_alone ? old_records : 1'000'000, is_alone && old_records > 0, "records from before the growth that it began before");
    const bool has_read = !outsider.began_at.empty() || outsider.reads_new;
    const auto age = diary_.now - diary_.growths.back().time;
    if (!outsider.reads_new && !outsider.began_at.empty() && age >= kPatience) {
        const auto partitions = static_cast<std::int64_t>(outsider.began_at.size());
        add("H23", about, is_alone ? partitions : 1, is_alone ? partitions : diary_.count(), is_alone && age > kLatest, "old partitions that it reads, and no new one");
    }
    if (outsider.reads_new) add("H29", about, 1, 1, is_alone, "reads new partitions in no group");
    if (has_read && cast.caller.client_id.ends_with("|replication-consumer")) add("H48", about, 1, 1, is_alone, "is called as mirrors are");
}

// Producers and keys ---------------------------------------------------------------------------------

bool Oracle::is_surely_known(std::size_t producer) const {
    return script_.producers[producer].placing != Placing::at_random && is_told_before(producer, diary_.epoch());
}

bool Oracle::is_told_at_some_epoch(std::size_t producer) const { return is_told_before(producer, diary_.epoch() + 1); }

bool Oracle::is_told_before(std::size_t producer, int end_epoch) const {
    for (int epoch = 0; epoch < end_epoch; ++epoch) {
        std::set<int> keys;
        std::set<int> counts;
        for_each_record([&](int, std::int64_t, const Written& record) {
            if (static_cast<std::size_t>(record.producer) != producer || record.epoch != epoch || !is_remembered(record)) return;
            keys.insert(record.key);
            counts.insert(record.count);
        });
        if (keys.size() >= kKeysToKnow && counts.size() == 1) return true;
    }
    return false;
}

// H04: records since the last growth that only an old count explains, of producers that have not sent any since that only the new
// one does.
void Oracle::stale_producers() {
    for (std::size_t producer = 0; producer < script_.producers.size(); ++producer) {
        const ProducerCast& cast = script_.producers[producer];
        std::int64_t stale = 0;
        std::int64_t surely = 0;
        bool has_switched = false;
        for_each_record([&](int partition, std::int64_t, const Written& record) {
            if (static_cast<std::size_t>(record.producer) != producer || record.epoch != diary_.epoch() || !is_remembered(record)) return;
            stale += is_stale(record, partition) ? 1 : 0;
            surely += is_surely_stale(record, partition) ? 1 : 0;
            if (record.count == diary_.count()) has_switched |= std::ranges::none_of(diary_.growths, [&](const Growth& growth) {
                return place(cast.placing, key_text(record.key), growth.from) == partition;
            });
        });
        const bool is_alone = producers_called(cast.caller).size() == 1;
        const bool is_due = is_alone && is_surely_known(producer) && sees_all_;
        if (!has_switched) add("H04", to_string(cast.caller), is_due ? surely : 1, is_alone ? stale : diary_.records, is_due && surely > 0, "records since the growth that only an old count explains");
    }
}

// H08: partitioners in use, of those that can be told.
void Oracle::mixed_partitioners() {
    std::set<Placing> used;
    std::set<Placing> told;
    for (std::size_t producer = 0; producer < script_.producers.size(); ++producer) {
        const ProducerCast& cast = script_.producers[producer];
        if (cast.placing == Placing::at_random) continue;
        bool has_sent = false;
        for (int epoch = 0; epoch <= diary_.epoch(); ++epoch) has_sent |= !keys_of(producer, epoch).empty();
        if (has_sent) used.insert(cast.placing);
        if (has_sent && producers_called(cast.caller).size() == 1 && is_told_at_some_epoch(producer)) told.insert(cast.placing);
    }
    if (used.size() < 2) return;
    const auto least = static_cast<std::int64_t>(told.size());
    add("H08", "", std::max<std::int64_t>(least, 2), static_cast<std::int64_t>(script_.producers.size()), least >= 2 && sees_all_, "partitioners of the topic's producers");
}

// H11: a producer that ignores keys sent enough of them again.
void Oracle::ignored_keys() {
    for (std::size_t producer = 0; producer < script_.producers.size(); ++producer) {
        const ProducerCast& cast = script_.producers[producer];
        if (cast.placing == Placing::at_random) add("H11", to_string(cast.caller), 1, 1, false, "places keys at random");
        // Several behind one name look like one that cannot decide.
        if (producers_called(cast.caller).size() > 1) add("H11", to_string(cast.caller), 1, 1, false, "several producers behind one name");
    }
}

/// One partitioner, at the counts that the topic has had, puts the key into all of its partitions.
bool Oracle::is_move_explained(int key) const {
    std::set<int> partitions;
    for_each_record([&](int partition, std::int64_t, const Written& record) {
        if (record.key == key && is_remembered(record)) partitions.insert(partition);
    });
    std::set<int> counts{diary_.count()};
    for (const Growth& growth : diary_.growths) counts.insert(growth.from);
    for (const ProducerCast& producer : script_.producers) {
        if (producer.placing == Placing::at_random) continue;
        for (std::size_t rule = 0; rule < 3; ++rule) {
            std::set<int> explained;
            for (const int count : counts) explained.insert(places_of_siblings(producer.placing, key_text(key), count)[rule]);
            if (std::ranges::includes(explained, partitions)) return true;
        }
    }
    return false;
}

// H09: keys with records in two partitions that were written within one count. Those that a stale producer explains are H04's.
void Oracle::keys_in_two_partitions() {
    std::map<std::pair<int, int>, std::set<int>> partitions_of;
    for_each_record([&](int partition, std::int64_t offset, const Written& record) {
        if (is_remembered(record) && offset >= diary_.partitions[static_cast<std::size_t>(partition)].start) partitions_of[{record.key, record.epoch}].insert(partition);
    });
    std::set<int> keys;
    std::int64_t surely = 0;
    for (const auto& [where, partitions] : partitions_of) {
        if (partitions.size() < 2 || !keys.insert(where.first).second) continue;
        surely += is_move_explained(where.first) ? 0 : 1;
    }
    const bool some_hash = std::ranges::any_of(script_.producers, [](const ProducerCast& cast) { return cast.placing != Placing::at_random; });
    add("H09", "", sees_all_ && some_hash ? surely : 1, of_keys(static_cast<std::int64_t>(keys.size())), sees_all_ && some_hash && surely > 0, "keys with records in two partitions within one count");
}

// H40: keys of a compacted topic with a value where their producers do not write them any more.
void Oracle::orphans() {
    if (!script_.is_compacted) return;
    std::set<Placing> used;
    bool is_known = false;
    bool all_have_switched = true;
    for (std::size_t producer = 0; producer < script_.producers.size(); ++producer) {
        used.insert(script_.producers[producer].placing);
        is_known |= is_told_at_some_epoch(producer);
    }
    std::map<std::pair<int, int>, std::pair<std::int64_t, Written>> newest;
    std::map<int, int> last_count;
    std::map<int, std::int64_t> last_order;
    for_each_record([&](int partition, std::int64_t offset, const Written& record) {
        if (!is_remembered(record)) return;
        newest[{record.key, partition}] = {offset, record};
        if (record.order >= last_order[record.producer]) {
            last_order[record.producer] = record.order;
            last_count[record.producer] = record.count;
        }
    });
    for (const auto& [producer, count] : last_count) all_have_switched &= count == diary_.count();
    std::set<int> orphans;
    std::set<int> surely;
    for (const auto& [where, last] : newest) {
        const auto& [key, partition] = where;
        const auto& [offset, record] = last;
        if (record.is_tombstone || offset < diary_.partitions[static_cast<std::size_t>(partition)].start) continue;
        bool is_home = false;
        for (const Placing placing : used) is_home |= placing != Placing::at_random && place(placing, key_text(key), diary_.count()) == partition;
        if (is_home && used.size() == 1) continue;
        orphans.insert(key);
        if (record.epoch < diary_.epoch() || all_have_switched) surely.insert(key);
    }
    const bool is_due = sees_all_ && is_known && used.size() == 1 && !used.contains(Placing::at_random);
    add("H40", "", is_due ? static_cast<std::int64_t>(surely.size())   : 1, of_keys(static_cast<std::int64_t>(orphans.size())), is_due && !surely.empty(), "keys with a value away from home");
}

// H41: keys whose newest record in one partition is a value, and in another a later tombstone.
void Oracle::missed_tombstones() {
    if (!script_.is_compacted) return;
    std::map<int, std::map<int, std::pair<std::int64_t, Written>>> newest;
    for_each_record([&](int partition, std::int64_t offset, const Written& record) {
        if (is_remembered(record)) newest[record.key][partition] = {offset, record};
    });
    std::int64_t keys = 0;
    bool is_exact = sees_all_;
    for (const auto& [key, partitions] : newest) {
        bool is_missed = false;
        // More partitions of a key than that are not kept.
        is_exact &= partitions.size() <= 4;
        for (const auto& [here, deletion] : partitions) {
            for (const auto& [there, value] : partitions) {
                is_missed |= deletion.second.is_tombstone && !value.second.is_tombstone && value.second.order < deletion.second.order &&
                             value.first >= diary_.partitions[static_cast<std::size_t>(there)].start;
            }
        }
        keys += is_missed ? 1 : 0;
    }
    add("H41", "", is_exact ? keys : 1, of_keys(keys), is_exact, "keys deleted in one partition while another holds an older value");
}

bool is_known_wrong(const std::string& id, bool is_missing) {
    return std::ranges::any_of(known_wrong(), [&](const KnownWrong& wrong) { return wrong.id == id && wrong.is_missing == is_missing; });
}

}  // namespace

std::vector<Claim> claims_of(const Script& script, const Diary& diary, const std::string& unique, bool is_everything_seen) {
    return Oracle(script, diary, unique, is_everything_seen).claims();
}

std::vector<std::string> compare(const std::vector<Claim>& claims, const std::vector<Told>& told) {
    std::vector<std::string> problems;
    for (const Told& finding : told) {
        if (is_known_wrong(finding.id, false)) continue;
        std::string nearest = "nothing of the kind holds";
        bool holds = false;
        for (const Claim& claim : claims) {
            if (claim.id != finding.id || claim.about != finding.about) continue;
            holds |= finding.count >= claim.least && finding.count <= claim.most;
            nearest = "it is " + std::to_string(claim.least) + " to " + std::to_string(claim.most) + " (" + claim.why + ")";
        }
        if (!holds) problems.push_back("false: " + finding.id + " about '" + finding.about + "' counts " + std::to_string(finding.count) + ", and " + nearest + "\n      " + finding.text);
    }
    for (const Claim& claim : claims) {
        if (!claim.is_due || is_known_wrong(claim.id, true)) continue;
        const bool is_told = std::ranges::any_of(told, [&](const Told& finding) { return finding.id == claim.id && finding.about == claim.about; });
        if (!is_told) problems.push_back("missing: " + claim.id + " about '" + claim.about + "', " + std::to_string(claim.least) + " to " + std::to_string(claim.most) + ": " + claim.why);
    }
    return problems;
}

const std::vector<KnownWrong>& known_wrong() {
    static const std::vector<KnownWrong> kList = {
        {"H04", false, "the oracle does not know yet that what a stale producer wrote stays told until every group is beyond it"},
        {"H06", false, "a group's positions from before it committed for the first time since the growth"},
        {"H07", false, "a member that left before the broker looked at its group"},
        {"H07", true, "the oracle does not know yet how long who committed for a group counts as one of it"},
        {"H23", false, "as H07"},
        {"H23", true, "as H07"},
        {"H29", false, "as H07"},
        {"H29", true, "as H07"},
        {"H09", false, "keys whose partition was written to at a later count as well are not counted"},
        {"H20", false, "the number, where a group begins more than once"},
        {"H20", true, "the clients here are of one process: where they share a name, the broker says one of several, and the oracle expects one"},
        {"H21", true, "the oracle does not know yet that one round is no proof"},
        {"H21", false, "as H21 above: the number of clients"},
        {"H06", true, "as H06 above"},
        {"H40", true, "as H40 below"},
        {"H48", false, "a mirror that a growth met after its last fetch"},
        {"H40", false, "values that a producer with the old count wrote after the growth are not counted"},
        {"H52", false, "the oracle does not play who may be a member and is held"},
    };
    return kList;
}

}  // namespace partita::test::histories
