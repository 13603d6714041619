#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schedule/clock.h"

namespace partita::test {

/// The statements of a simulated broker to its clients, which must stay true for ever. Every client notes here what the broker
/// tells it; the ledger notes contradictions as wrong.
class Ledger {
  public:
    /// Statements of this age survive a power failure: a background sync is due after a second, and time passes only when no part
    /// has anything to do.
    static constexpr std::int64_t kUnsyncedMs = 1'500;

    explicit Ledger(Clock& clock) : clock_(clock) {}

    /// A partition of a topic.
    using Place = std::pair<std::string, std::int32_t>;

    [[nodiscard]] const std::vector<std::string>& wrong() const { return wrong_; }
    void note_wrong(std::string what) {
        if (wrong_.size() < kWrongMax) {
            wrong_.push_back(std::move(what));
        }
    }

    // Records ------------------------------------------------------------------------------------

    /// Topics whose records are synced before they are acknowledged (flush.messages=1).
    std::set<std::string> synced_topics;

    /// Returns a value that no other record has.
    [[nodiscard]] std::string fresh_value() { return "v" + std::to_string(++last_value_); }
    void note_acknowledged(const Place& place, std::int64_t offset, const std::string& value);
    /// The broker synced a record of that partition before it acknowledged it: the partition survives everything, too.
    void note_synced(const Place& place) {
        std::int32_t& synced = synced_counts_[place.first];
        synced = std::max(synced, place.second + 1);
    }
    /// A fetch returned this record.
    void note_seen(const Place& place, std::int64_t offset, const std::string& value, bool committed_only);
    /// A client asked to delete the topic, and it is unknown whether its records are there.
    void forget_records(const std::string& topic) {
        std::erase_if(records_, [&](const auto& one) { return one.first.first == topic; });
    }
    /// Checks a reading of the whole partition, from the beginning.
    void check_whole(const Place& place, const std::map<std::int64_t, std::string>& found);

    // Transactions -------------------------------------------------------------------------------

    void note_open(const std::string& value) { open_.insert(value); }
    void note_ended(const std::string& value) { open_.erase(value); }

    // Topics -------------------------------------------------------------------------------------

    /// The count that was acknowledged last.
    [[nodiscard]] std::int32_t count_of(const std::string& topic) const {
        const auto found = counts_.find(topic);
        return found == counts_.end() || found->second.empty() ? 0 : found->second.back().first;
    }
    /// Metadata shows this count; calls come in the order of the answers.
    void note_count(const std::string& topic, std::int32_t count);

    // Groups -------------------------------------------------------------------------------------

    /// Notes what a SyncGroup answer told. The coordinator writes a generation once its leader has shared the partitions out.
    /// Until then, a coordinator that begins anew may count the generation again.
    void note_owner(const std::string& group, std::int32_t generation, const Place& place, const std::string& member);
    /// Offsets that are committed ascend.
    [[nodiscard]] std::int64_t fresh_offset() { return ++last_committed_; }
    /// From now on, the broker may return this offset.
    void note_commit_wanted(const std::string& group, const Place& place, std::int64_t offset) {
        wanted_commits_[group][place].insert(offset);
    }
    /// The acknowledged offset; -1: none.
    [[nodiscard]] std::int64_t committed(const std::string& group, const Place& place) const;
    void note_committed(const std::string& group, const Place& place, std::int64_t offset);
    /// Checks that the broker finds the right `offset` (-1: none) when it was asked after `acknowledged` was committed (see
    /// `committed`). It must not be an older commit, and must be an offset that a client wanted or a seed. A partition that does
    /// not exist has no offset, if the count was looked at just before.
    void check_committed(const std::string& group, const Place& place, std::int64_t acknowledged, std::int64_t offset);

    // Growths ------------------------------------------------------------------------------------

    /// Seeds are promised: a group that has committed anything for the topic finds an offset in every new partition, whatever
    /// happens.
    bool gives_seeds = false;
    /// Returns the index of that growth. `seeded`: the topic's mode promises seeds, whatever `gives_seeds` says of others.
    std::size_t note_growth_wanted(const std::string& topic, std::int32_t from, std::int32_t to, bool seeded = false);
    /// Notes that the growth did not happen. The fate of a growth without an answer is unknown.
    void note_growth_refused(std::size_t growth) { growths_[growth].readers.clear(); }
    /// A growth gets no answer any more; it may be under way as long as the broker lives.
    void note_growth_lost() { growth_may_be_under_way_ = true; }

    // Crashes ------------------------------------------------------------------------------------

    /// A kill loses no statement of the broker. Data unsynced at the kill may stay unsynced for as long again after the start.
    void note_kill(Instant died, Instant started);
    /// A power failure takes everything that was told recently and not synced. It leaves acknowledged records of `synced_topics`,
    /// and the partitions that they are in.
    void note_power_failure(Instant died);
    [[nodiscard]] int power_failures() const { return power_failures_; }

  private:
    static constexpr std::size_t kWrongMax = 20;

    struct Record {
        std::string value;
        Instant told;
        bool is_acknowledged = false;
    };
    struct Records {
        std::map<std::int64_t, Record> at;
        std::map<std::string, std::int64_t> where;
    };
    struct Committed {
        std::int64_t offset = -1;
        Instant told;
    };

    struct Growth {
        std::string topic;
        std::int32_t from = 0;
        std::int32_t to = 0;
        /// Groups that had committed something for the topic.
        std::set<std::string> readers;
    };

    /// True when the group has committed something for the topic.
    [[nodiscard]] bool reads(const std::string& group, const std::string& topic) const;
    [[nodiscard]] bool has_read_at_growth(const std::string& group, const Place& place) const;
    void note_record(const Place& place, std::int64_t offset, const std::string& value);
    void forget_unsynced_records(const Place& place, Records& records, Instant before);
    void forget_unsynced_counts(Instant before);
    template <class Use>
    void for_each_time(Use use);

    Clock& clock_;
    std::vector<std::string> wrong_;
    std::uint64_t last_value_ = 0;
    std::map<Place, Records> records_;
    std::set<std::string> open_;
    /// Ascending counts, each with the time when the broker told it.
    std::map<std::string, std::vector<std::pair<std::int32_t, Instant>>> counts_;
    /// The least number of partitions, as there is a synced record in the last of them.
    std::map<std::string, std::int32_t> synced_counts_;
    std::map<std::pair<std::string, std::int32_t>, std::map<Place, std::string>> owners_;
    std::int64_t last_committed_ = 0;
    std::map<std::string, std::map<Place, Committed>> committed_;
    std::map<std::string, std::map<Place, std::set<std::int64_t>>> wanted_commits_;
    std::vector<Growth> growths_;
    bool growth_may_be_under_way_ = false;
    /// A power failure took an acknowledged growth, and may have left what was committed in its partitions.
    bool has_lost_growth_ = false;
    int power_failures_ = 0;
};

}  // namespace partita::test
