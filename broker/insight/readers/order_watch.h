#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "broker/insight/order/delivery_order.h"
#include "broker/insight/order/growth_scan.h"
#include "broker/insight/readers/inversions.h"
#include "broker/insight/readers/look_time.h"
#include "broker/insight/readers/reader_facts.h"
#include "broker/insight/readers/reading_connections.h"
#include "protocol/types.h"

/// Follows what the groups of a topic that has grown were handed, and in which order. Pure; one caller at a time.
namespace partita::insight {

/// One partition's records in one answer to a reader, as the broker sent them.
struct Delivery {
    ConnectionId connection;
    /// See HandOut.
    std::uint64_t answer = 0;
    PartitionIndex partition;
    Offset from;
    std::uint32_t size_bytes = 0;
    TimestampMs time;
};

/// Deliveries and commits wait here in the order in which they came. A look applies them one by one, each to the growths that
/// matter to its group, once it is known whose they are and once the records that they need were read. So the results do not
/// depend on the moments of the looks.
///
/// A growth matters to a group until the group was handed everything from before it. A group that had committed all of that when
/// the watch began is through at once.
class OrderWatch {
  public:
    /// Most deliveries and commits that wait. Without room they are left out, and the numbers of the topic become lower bounds.
    static constexpr std::size_t kWaitingMax = 262'144;
    /// Growths that are watched at once: the newest ones.
    static constexpr std::size_t kGrowthsMax = 4;
    /// Groups that are watched for one growth.
    static constexpr std::size_t kGroupsMax = 1024;
    /// A delivery waits this long for what may show whose it is. Then it counts for nobody, and the numbers of the groups to
    /// which it may belong become lower bounds.
    static constexpr std::int64_t kOwnerWaitMs = 10'000;

    /// Takes all growths of the topic, ascending; those that it knows stay as they are.
    void set_growths(std::span<const EarlierExpansion> growths);
    void on_delivery(const Delivery& delivery);
    void lose_deliveries() { are_all_inexact_ = true; }
    void on_commit(std::string_view group, std::span<const Inversions::Commit> commits);
    /// The group was deleted: a later group of the same name is a new group.
    void forget_group(const std::string& group);

    /// True if something waits that a look can settle.
    [[nodiscard]] bool has_work() const { return !waiting_.empty() || is_reading_; }
    /// The last `settle` used up its budget: there are records left to read.
    [[nodiscard]] bool is_reading() const { return is_reading_; }

    /// Applies what waits, as far as the facts allow. `wanted`: by old partition of the last growth, the lowest position for
    /// which the caller will ask in `moved_from`; null if it will not ask.
    void settle(const ReaderFacts& facts, ReaderOwners& owners, std::optional<std::vector<Offset>> wanted, LookTime& time);

    /// The numbers of one group over all growths. A key counts once.
    struct Told {
        std::set<std::uint64_t> keys;
        std::set<std::uint64_t> processed;
        std::set<std::uint64_t> in_one_answer;
        std::set<std::uint64_t> in_two_members;
        std::int64_t given_back = 0;
        /// Further keys; see DeliveryOrder::Counts. A key that two growths moved may count twice.
        std::int64_t overlapping = 0;
        /// Connections that were handed one of the records.
        std::set<std::uint64_t> readers;
        TimestampMs first = kNoTimestamp;
        TimestampMs last = kNoTimestamp;
        bool is_exact = true;
        /// By partition, the last of the older records.
        std::map<PartitionIndex, Offset> last_earlier;
        /// One cut per key and pair of partitions, oldest growth first.
        std::vector<WrongKey> cuts;
    };
    /// By group, those with a key that is, or may be, in wrong order.
    [[nodiscard]] std::map<std::string, Told> told() const;

    /// The records from before the last growth that a group has yet to read, and how many of them have keys that moved.
    struct Moved {
        /// Null if it is not known (yet).
        std::optional<std::int64_t> records;
        bool is_exact = true;
        /// Keys do not decide partitions in this topic, so the growth put nothing in danger.
        bool has_no_keys = false;
    };
    /// `positions`: where the group goes on, by old partition of the last growth.
    [[nodiscard]] Moved moved_from(std::span<const Offset> positions) const;

    /// The keys that the group was handed in wrong order, one for each cut: those of the oldest growth first. A cut keeps its
    /// place while the older records exist.
    [[nodiscard]] std::vector<WrongKey> wrong_keys(std::string_view group) const;

    void add_groups_told(std::set<std::string>& groups) const;

  private:
    struct CommitNote {
        std::string group;
        std::vector<Inversions::Commit> commits;
    };
    struct DeletionNote {
        std::string group;
    };
    /// A delivery with what the looks since then have found. That is kept, because the evidence goes away: connections and
    /// members are forgotten, and logs are cleaned.
    struct Waiting {
        Delivery delivery;
        /// Empty while it is not known.
        std::string group = {};
        /// Behind the last record.
        std::optional<Offset> to = std::nullopt;
        /// The records do not exist any more, and `to` will not be known.
        bool is_gone = false;
    };
    using Event = std::variant<Waiting, CommitNote, DeletionNote>;

    struct GroupOrder {
        /// The index of its scan; meaningless once it is through.
        std::size_t scan = 0;
        DeliveryOrder order;
        bool is_through = false;
    };
    struct Scan {
        GrowthScan scan;
        /// It began at the log starts of its time, so it serves every group.
        bool is_whole = false;
    };
    struct Growth {
        GrowthCut cut;
        /// At most two. The first may begin where the groups of its time had something left to read.
        std::vector<Scan> scans;
        /// The groups for which the first scan suffices.
        std::set<std::string, std::less<>> known_groups;
        std::map<std::string, GroupOrder, std::less<>> groups;
        /// Groups that had read everything from before the growth when their watch would have begun.
        std::set<std::string, std::less<>> done_groups;
        /// Groups to which a delivery from before the growth may belong, among those that wait.
        std::set<std::string, std::less<>> reading_groups;
        bool may_any_group_read = false;
        /// A group had no room, or a scan could not read everything.
        bool has_left_out = false;
    };
    using Positions = std::vector<Offset>;

    /// Where an event got to: it was applied, or the look ends before it.
    enum class Step : std::uint8_t { done, waits };
    [[nodiscard]] Step apply(const Waiting& waiting, const ReaderFacts& facts, const GroupIndex& groups, ReaderOwners& owners,
                             LookTime& time);
    /// The group of `waiting` is known.
    [[nodiscard]] Step apply_to_group(const Waiting& waiting, const GroupFacts* group_facts, const ReaderFacts& facts);
    void apply(const CommitNote& note);
    void apply(const DeletionNote& note);
    void forget(const std::string& group);
    /// The group's order for the growth; null if the growth does not matter to the group.
    [[nodiscard]] GroupOrder* order_of(std::size_t growth_index, const std::string& group, const GroupFacts* group_facts,
                                       const ReaderFacts& facts);
    /// True if the group had read everything from before the growth before the deliveries that wait.
    [[nodiscard]] bool was_done(const Growth& growth, const std::string& group, const GroupFacts* group_facts) const;
    [[nodiscard]] bool has_passed_all(const Growth& growth, const Positions& positions) const;
    Scan& add_scan(std::size_t growth_index, Positions from, bool is_whole);
    void leave_out(const std::vector<std::string>& groups);
    void forget_removed(const ReaderFacts& facts);
    /// Finds out what can be known now about the deliveries that wait.
    void resolve(const ReaderFacts& facts, ReaderOwners& owners);
    void note_reading_groups(ReaderOwners& owners);
    void remember_positions(const ReaderFacts& facts);
    void end_watches();
    void read_for_moved(const ReaderFacts& facts);

    std::deque<Event> waiting_;
    /// Every growth of the topic, ascending; those that are watched are the last ones.
    std::vector<GrowthCut> cuts_;
    std::vector<Growth> growths_;
    /// The positions of groups at the last look after which nothing waited.
    std::map<std::string, Positions, std::less<>> positions_;
    std::vector<Offset> log_starts_;
    partitioners::FamilySet families_;
    /// See `settle`.
    std::optional<Positions> wanted_moved_;
    bool is_reading_ = false;
    /// Groups with a delivery that was left out.
    std::set<std::string, std::less<>> inexact_groups_;
    bool are_all_inexact_ = false;
    /// By group: how many notes of its deletion wait.
    std::map<std::string, int, std::less<>> deletions_;
};

}  // namespace partita::insight
