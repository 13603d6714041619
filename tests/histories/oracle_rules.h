#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/histories/oracle.h"

/// The rules by which the oracle derives claims, one member function for each hazard: those of groups in oracle_groups.cc, of
/// readers in no group in oracle_outsiders.cc, of producers and keys in oracle_producers.cc.
namespace partita::test::histories {

/// Rules that wait for ten seconds, as the documentation says; they may be judged a little earlier or later.
inline constexpr std::chrono::seconds kPatience(10);
inline constexpr std::chrono::seconds kLatest(13);
/// Distinct keys from which on the broker tells a partitioner.
inline constexpr std::size_t kKeysToKnow = 40;
/// Steps of one key between partitions that are remembered.
inline constexpr int kStepsKept = 8;
/// Returns of a partition to its owner before the last one, from which it flaps.
inline constexpr int kRestlessReturns = 3;
/// Partitions of one key that are remembered.
inline constexpr std::size_t kPartitionsKept = 4;

class Oracle {
  public:
    Oracle(const Script& script, const Diary& diary, const std::string& unique, bool is_everything_seen)
        : script_(script), diary_(diary), unique_(unique), sees_all_(is_everything_seen) {}

    std::vector<Claim> claims() {
        if (diary_.is_deleted) {
            return {};
        }
        keys_in_two_partitions();
        missed_tombstones();
        mixed_partitioners();
        ignored_keys();
        for (std::size_t group = 0; group < script_.groups.size(); ++group) {
            if (diary_.groups[group].is_deleted) {
                continue;
            }
            flapping(script_.groups[group].name + unique_, diary_.groups[group], script_.groups[group].is_consumer_protocol);
        }
        if (!diary_.growths.empty()) {
            stale_producers();
            held_readers();
            orphans();
            for (std::size_t group = 0; group < script_.groups.size(); ++group) {
                about_group(group);
            }
            for (std::size_t outsider = 0; outsider < script_.outsiders.size(); ++outsider) {
                about_outsider(outsider);
            }
        }
        return claims_;
    }

  private:
    /// A broker that was too busy to look at every record bases its findings about keys on the records that it saw.
    [[nodiscard]] std::int64_t of_keys(std::int64_t most) const {
        return sees_all_ ? most : std::max<std::int64_t>(diary_.records, 1);
    }
    void add(std::string id, std::string about, std::int64_t least, std::int64_t most, bool is_due, std::string why,
             std::int64_t exact = -1) {
        if (most > 0) {
            claims_.push_back({std::move(id), std::move(about), least, most, is_due && least > 0, std::move(why), exact});
        }
    }

    void about_group(std::size_t index);
    void flapping(const std::string& name, const GroupDiary& group, bool is_consumer_protocol);
    void backlog(const std::string& name, const GroupDiary& group);
    void skipped(const std::string& name, std::size_t index);
    void skipped_by_one_of_several(const std::string& name, const GroupCast& cast);
    [[nodiscard]] std::pair<bool, bool> was_there(const GroupDiary& group, int partition) const;
    void stopped(const std::string& name, const GroupDiary& group);
    void inverted(const std::string& name, const GroupDiary& group);
    [[nodiscard]] std::size_t index_of(const GroupDiary& group) const;
    [[nodiscard]] bool has_one_partitioner() const;
    [[nodiscard]] int steps_of(int key) const;
    [[nodiscard]] std::size_t partitions_of(int key) const;
    void blind(const std::string& name, const GroupDiary& group);
    void due_rebalance(const std::string& name, const GroupDiary& group);
    void about_outsider(std::size_t index);
    /// Keys of which a reader was given a newer record first, as far as the older one still exists.
    struct Overtaken {
        std::set<int> all;
        /// Those that the broker has to tell of if it knows the reader.
        std::set<int> surely;
        /// The broker has had enough time.
        bool is_settled = true;
    };
    [[nodiscard]] Overtaken overtaken_in(const std::vector<GivenSince>& watches) const;
    void held_readers();
    [[nodiscard]] bool is_surely_one_of_several(const KeptBack& kept) const;
    void stale_producers();
    void keys_in_two_partitions();
    void mixed_partitioners();
    void ignored_keys();
    void orphans();
    void missed_tombstones();

    /// All hosts here are one machine, and all clients one process of the same software.
    [[nodiscard]] std::ptrdiff_t members_called(const std::string& client_id) const {
        std::ptrdiff_t members = 0;
        for (const GroupCast& group : script_.groups) {
            members += std::ranges::count(group.members, client_id, &Caller::client_id);
        }
        return members;
    }
    [[nodiscard]] bool is_name_of_a_member(const Caller& caller) const { return members_called(caller.client_id) > 0; }
    /// True when the broker cannot tell a member's fetches from those of others.
    [[nodiscard]] bool is_name_shared(const std::string& client_id) const {
        const auto is_called = [&](const OutsiderCast& outsider) { return outsider.caller.client_id == client_id; };
        return members_called(client_id) + std::ranges::count_if(script_.outsiders, is_called) > 1;
    }
    [[nodiscard]] std::int64_t replayed(const OutsiderDiary& outsider) const;
    /// Returns the producers with this name: observers that go by names take them for one.
    [[nodiscard]] std::vector<std::size_t> producers_called(const Caller& caller) const {
        std::vector<std::size_t> same;
        for (std::size_t index = 0; index < script_.producers.size(); ++index) {
            if (script_.producers[index].caller == caller) {
                same.push_back(index);
            }
        }
        return same;
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
    /// True when only a count before that epoch puts the record where it lies.
    [[nodiscard]] bool is_stale(const Written& record, int partition, int epoch) const {
        const Placing placing = script_.producers[static_cast<std::size_t>(record.producer)].placing;
        const int count = diary_.count_at(epoch);
        return placing != Placing::at_random && record.count < count && place(placing, key_text(record.key), count) != partition;
    }
    /// The same, by each rule that brings the hash into range.
    [[nodiscard]] bool is_surely_stale(const Written& record, int partition, int epoch) const {
        const Placing placing = script_.producers[static_cast<std::size_t>(record.producer)].placing;
        return is_stale(record, partition, epoch) &&
               std::ranges::count(places_of_siblings(placing, key_text(record.key), record.count), partition) == 3 &&
               std::ranges::count(places_of_siblings(placing, key_text(record.key), diary_.count_at(epoch)), partition) == 0;
    }
    /// True for a record of the last epoch that lies where only the count in force puts it; `surely`: by each rule that brings
    /// the hash into range.
    [[nodiscard]] bool proves_switch(const Written& record, int partition, bool surely) const;
    /// Records that the producer wrote by earlier partition counts while the topic was at that epoch.
    struct StaleWork {
        std::int64_t records = 0;
        std::int64_t surely = 0;
        /// The last of either by partition.
        std::map<int, std::int64_t> last;
        std::map<int, std::int64_t> last_surely;
    };
    [[nodiscard]] StaleWork stale_work(std::size_t producer, int epoch) const;
    /// The log still has one of these records, each the last of its partition.
    [[nodiscard]] bool is_in_log(const std::map<int, std::int64_t>& last) const;
    [[nodiscard]] bool has_sent(std::size_t producer) const;
    [[nodiscard]] bool has_switched(std::size_t producer, bool surely) const;
    void stale_leftovers(int epoch);
    /// The broker knew the producer's partitioner, beyond doubt, before the producer sent anything at that epoch.
    [[nodiscard]] bool is_surely_known(std::size_t producer, int epoch) const;
    [[nodiscard]] bool is_told_at_some_epoch(std::size_t producer) const;
    /// In one of the epochs before `end_epoch` the producer sent enough keys by one count.
    [[nodiscard]] bool is_told_before(std::size_t producer, int end_epoch) const;
    [[nodiscard]] bool is_move_explained(int key) const;

    const Script& script_;
    const Diary& diary_;
    const std::string& unique_;
    const bool sees_all_;
    std::vector<Claim> claims_;
};

}  // namespace partita::test::histories
