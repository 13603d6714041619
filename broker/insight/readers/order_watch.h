#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
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
#include "broker/insight/readers/late_order.h"
#include "broker/insight/readers/look_time.h"
#include "broker/insight/readers/outside_pass.h"
#include "broker/insight/readers/reader_facts.h"
#include "broker/insight/readers/reading_connections.h"
#include "protocol/types.h"

/// Follows what the readers of a topic that has grown were handed, and in which order. Pure; one caller at a time.
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
    /// When the request came to which this is the answer; kNoTimestamp if that is not known.
    TimestampMs asked = kNoTimestamp;
};

/// Deliveries and commits wait here in the order in which they came. A look applies them one by one, each to the growths that
/// matter to its group, once it is known whose they are and once the records that they need were read. So the results do not
/// depend on the moments of the looks.
///
/// A client that leaves its group drops the answer to a fetch that waits then: Java and librdkafka take no records of a partition
/// that is no longer assigned. Such a delivery was to nobody.
///
/// A growth matters to a group until the group was handed everything from before it, and has committed that: a client may drop
/// what it was handed, and be handed it again. A group that commits nothing is through some time after it was handed the last of
/// it. A group that had committed all of that when the watch began is through at once. For clients that read in no group, see
/// OutsidePass.
///
/// Records that producers still place by an earlier count after a growth are judged by LateOrder, for groups.
class OrderWatch {
  public:
    /// Most deliveries and commits that wait. Without room they are left out, and the numbers of the topic become lower bounds.
    static constexpr std::size_t kWaitingMax = 262'144;
    /// Growths that are watched at once: the newest ones.
    static constexpr std::size_t kGrowthsMax = 4;
    /// Groups that are watched for one growth.
    static constexpr std::size_t kGroupsMax = 1024;
    /// Clients in no group that are watched for one growth, and the passes of each that are remembered. Further clients are not
    /// watched; a client that read nothing for a minute makes room if there is nothing to tell of it.
    static constexpr std::size_t kOutsidersMax = 256;
    static constexpr std::size_t kPassesMax = 4;
    /// Keys that are remembered for all readers and growths: about 250 bytes each. Beyond this, no further reader is watched.
    static constexpr std::size_t kKeysMax = 1'000'000;
    /// A reader that was handed everything from before the growth is watched this long without a commit.
    static constexpr std::int64_t kUncommittedMs = 600'000;
    /// A delivery waits this long until something shows which group got it. Then it counts as not attributed (see DeliveryOrder)
    /// for each group that may have got it, and the numbers of these groups become lower bounds.
    static constexpr std::int64_t kOwnerWaitMs = 10'000;
    /// If more groups than this may have got it, it counts for none of them.
    static constexpr std::size_t kOwnersMax = 8;

    /// Takes all growths of the topic, ascending; those that it knows stay as they are.
    void set_growths(std::span<const EarlierExpansion> growths);
    void on_delivery(const Delivery& delivery);
    void lose_deliveries() { are_all_inexact_ = true; }
    /// `before`: all positions of the group until then; null if they were passed before. `time`: kNoTimestamp if it is not known.
    void on_commit(std::string_view group, std::span<const Inversions::Commit> commits, const Inversions::Positions* before,
                   TimestampMs time);
    /// The group was deleted: a later group of the same name is a new group.
    void forget_group(const std::string& group);

    /// True if something waits that a look can settle.
    [[nodiscard]] bool has_work() const {
        return !waiting_.empty() || is_reading_ ||
               std::ranges::any_of(growths_, [](const Growth& growth) { return growth.late.has_work(); });
    }
    /// The last `settle` used up its budget: there are records left to read.
    [[nodiscard]] bool is_reading() const { return is_reading_; }

    /// Applies what waits, as far as the facts allow. `wanted`: by old partition of the last growth, the lowest position for
    /// which the caller will ask in `moved_from`; null if it will not ask.
    void settle(const ReaderFacts& facts, ReaderOwners& owners, std::optional<std::vector<Offset>> wanted, LookTime& time);

    /// The numbers of one group, or of one client in no group, over all growths. A key counts once.
    struct Told {
        std::set<std::uint64_t> keys;
        std::set<std::uint64_t> processed;
        std::set<std::uint64_t> in_one_answer;
        std::set<std::uint64_t> in_two_members;
        /// Further keys; see DeliveryOrder::Counts. Each key is only in the first of `keys` and these that has it.
        std::set<std::uint64_t> overlapping;
        std::set<std::uint64_t> unattributed;
        std::set<std::uint64_t> given_back;
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
    /// By client in no group, likewise. Processes that only the process tells apart count together, since a finding names no
    /// process.
    [[nodiscard]] std::map<ReadingClient, Told> told_outside() const;

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

    /// A group; or, if `group` is empty, the clients in no group with this client id and address. An empty address is any.
    struct Reader {
        std::string group;
        std::string client_id;
        std::string client_address;
    };
    /// The keys that the reader was handed in wrong order, one for each cut: those of the oldest growth first. A cut keeps its
    /// place while the older records exist.
    [[nodiscard]] std::vector<WrongKey> wrong_keys(const Reader& reader) const;

    /// True if the answers to the group show in which order it was handed two records of a key that moved: `earlier` from before
    /// a growth, or placed by an earlier count, and `later` from after it. Commits of the group then add nothing: with several
    /// members, one may commit the newer record while another has got the older one and not committed it yet.
    [[nodiscard]] bool has_judged(std::string_view group, PartitionIndex from, Offset earlier, PartitionIndex to,
                                  Offset later) const;
    /// True if the group was surely not handed the record, as far as it was watched.
    [[nodiscard]] bool is_unread(std::string_view group, PartitionIndex partition, Offset offset) const;
    /// True if it judges in which order groups are handed the records of these writers.
    [[nodiscard]] bool judges(std::span<const StaleWrites::Writer> writers) const;
    /// Deliveries wait that may still be judged exactly.
    [[nodiscard]] bool will_judge() const { return has_work() && !are_all_inexact_; }

    void add_groups_told(std::set<std::string>& groups) const;

  private:
    struct CommitNote {
        std::string group;
        std::vector<Inversions::Commit> commits;
        TimestampMs time = kNoTimestamp;
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
        /// The client, if it reads in no group.
        std::shared_ptr<const ReadingClient> outsider = {};
        /// When that client's connection was opened; kNoTimestamp if that is not known.
        TimestampMs born = kNoTimestamp;
        /// A look found that the client reads in no group. A second one has to find it, too: the member may have left after the
        /// notes of the first look were taken, and before its facts were.
        bool was_outside = false;
        /// Behind the last record.
        std::optional<Offset> to = std::nullopt;
        /// The records do not exist any more, and `to` will not be known.
        bool is_gone = false;
        bool is_dropped = false;
    };
    using Event = std::variant<Waiting, CommitNote, DeletionNote>;

    struct GroupOrder {
        /// The index of its scan; meaningless once it is through.
        std::size_t scan = 0;
        DeliveryOrder order;
        /// When the group was last handed a record from before the growth.
        TimestampMs last_before = kNoTimestamp;
        bool is_through = false;
    };
    struct Scan {
        GrowthScan scan;
        /// It began at the log starts of its time, so it serves every group.
        bool is_whole = false;
    };
    struct Growth {
        GrowthCut cut;
        TimestampMs time;
        /// Null if that is not known.
        std::shared_ptr<const GroupsAtGrowth> groups_then;
        /// Those of them that were deleted since: later groups of their names were not there.
        std::set<std::string, std::less<>> deleted_then;
        /// The commits of these since the growth, until they are handed something.
        std::map<std::string, std::map<PartitionIndex, DeliveryOrder::LastCommit>, std::less<>> commits_at_work;
        /// At most two. The first may begin where the groups of its time had something left to read.
        std::vector<Scan> scans;
        /// The groups for which the first scan suffices.
        std::set<std::string, std::less<>> known_groups;
        std::map<std::string, GroupOrder, std::less<>> groups;
        /// Groups that had read everything from before the growth when their watch would have begun.
        std::set<std::string, std::less<>> done_groups;
        /// The passes of clients in no group, oldest first; at least one for each.
        std::map<ReadingClient, std::deque<OutsidePass>> outsiders;
        /// Groups to which a delivery from before the growth may belong, among those that wait.
        std::set<std::string, std::less<>> reading_groups;
        bool may_any_group_read = false;
        /// A group had no room, or a scan could not read everything.
        bool has_left_out = false;
        /// The records that producers placed by an earlier count after this growth.
        LateOrder late;

        [[nodiscard]] bool has_at_work(std::string_view group) const {
            return groups_then && groups_then->at_work.contains(std::string(group)) && !done_groups.contains(group) &&
                   !deleted_then.contains(group);
        }
        [[nodiscard]] bool has_done(const std::string& group) const {
            return groups_then && groups_then->done.contains(group) && !deleted_then.contains(group);
        }
    };
    using Positions = std::vector<Offset>;

    /// Where an event got to: it was applied, or the look ends before it.
    enum class Step : std::uint8_t { done, waits };
    [[nodiscard]] Step apply(const Waiting& waiting, const ReaderFacts& facts, const GroupIndex& groups, ReaderOwners& owners,
                             LookTime& time);
    /// The delivery was to one of these groups; not attributed, if there are several, or if it may be to none of them.
    [[nodiscard]] Step apply_to_groups(const Waiting& waiting, std::span<const std::string> names, bool is_attributed,
                                       const ReaderFacts& facts, const GroupIndex& groups);
    /// The reader had left its group when the answer came to what it had asked before.
    [[nodiscard]] static bool is_dropped(const Delivery& delivery, const ReaderOwner& owner) {
        return owner.left != kNoTimestamp && delivery.asked != kNoTimestamp && delivery.asked <= owner.left &&
               delivery.time > owner.left;
    }
    /// The client of `waiting` asked for the offsets of a group that does not exist (yet): it has neither members nor commits.
    [[nodiscard]] static bool is_of_a_name_only(const ReaderOwner& owner, const GroupIndex& groups) {
        return owner.is_by_request && owner.is_of_one_group && groups.find(owner.groups.front()) == nullptr;
    }
    /// The client of `waiting` reads in no group.
    [[nodiscard]] Step apply_to_outsider(const Waiting& waiting, const ReaderFacts& facts);
    /// The pass of the client to which the delivery belongs; null if it matters to none, or if there is no room.
    [[nodiscard]] OutsidePass* pass_of(Growth& growth, const ReadingClient& client, const Delivery& delivery);
    /// The growth since which all hand-outs at that time are known: `growth`, or an earlier one that this broker carried out.
    [[nodiscard]] const Growth& watched_since(const Growth& growth, TimestampMs time) const;
    /// True if the group, which was at work, may have been handed records behind the delivery before: it goes back to its
    /// commit. A commit just before the delivery, since the growth, tells where it was, and so does any other place.
    [[nodiscard]] bool is_begin_doubtful(const GroupOrder& order, const std::string& group, const Delivery& delivery) const;
    void apply(const CommitNote& note);
    void apply(const DeletionNote& note);
    void forget(const std::string& group);
    /// The group's order for the growth; null if the growth does not matter to the group.
    [[nodiscard]] GroupOrder* order_of(std::size_t growth_index, const std::string& group, const GroupFacts* group_facts,
                                       const ReaderFacts& facts);
    /// True if the group had read everything from before the growth before the deliveries that wait.
    [[nodiscard]] bool was_done(const Growth& growth, const std::string& group, const GroupFacts* group_facts) const;
    [[nodiscard]] bool has_passed_all(const Growth& growth, const Positions& positions) const;
    /// The index of the scan that serves every reader.
    [[nodiscard]] std::size_t whole_scan(std::size_t growth_index, const ReaderFacts& facts);
    Scan& add_scan(std::size_t growth_index, Positions from, bool is_whole);
    void leave_out(const std::vector<std::string>& groups);
    void forget_removed(const ReaderFacts& facts);
    /// Finds out what can be known now about the deliveries that wait.
    void resolve(const ReaderFacts& facts, const GroupIndex& groups, ReaderOwners& owners);
    void note_reading_groups(ReaderOwners& owners);
    void remember_positions(const ReaderFacts& facts);
    /// Looks where groups are that were at work when the topic grew, and of which no look and no commit has told it yet.
    void note_first_positions(const ReaderFacts& facts);
    void end_watches(const ConnectionDirectory& connections, LookTime& time);
    /// Returns true if a client in no group needs the scans of the growth.
    bool end_passes(Growth& growth, const ConnectionDirectory& connections, LookTime& time) const;
    [[nodiscard]] std::size_t keys() const;
    void add_to(Told& told, const DeliveryOrder& order, bool is_exact) const;
    void read_for_moved(const ReaderFacts& facts);
    /// The delivery was to the group; see LateOrder.
    void note_for_late(const Waiting& waiting, const std::string& group, bool is_attributed);
    /// False: there are late records left to judge.
    bool settle_late(const ReaderFacts& facts, LookTime& time);

    std::deque<Event> waiting_;
    /// Every growth of the topic, ascending; those that are watched are the last ones.
    std::vector<GrowthCut> cuts_;
    std::vector<Growth> growths_;
    /// The positions of groups at the last look but one after which nothing waited: before everything that waits now. Those of
    /// the last look may be newer than that, since the facts of a look are newer than its notes.
    std::map<std::string, Positions, std::less<>> positions_;
    /// Those at the last look after which nothing waited.
    std::map<std::string, Positions, std::less<>> last_positions_;
    /// Those of groups in neither, from before their first commit since the growth.
    struct FirstPositions {
        Positions positions;
        /// A commit told them. Otherwise a look has found them, and a second one has to come without a note of a commit: the
        /// facts of the first one may be newer than its notes.
        bool are_certain = false;
    };
    std::map<std::string, FirstPositions, std::less<>> first_positions_;
    std::vector<Offset> log_starts_;
    partitioners::FamilySet families_;
    /// See `settle`.
    std::optional<Positions> wanted_moved_;
    bool is_reading_ = false;
    /// Groups with a delivery that was left out.
    std::set<std::string, std::less<>> inexact_groups_;
    bool are_all_inexact_ = false;
    bool is_full_ = false;
    /// By group: how many notes of its deletion wait.
    std::map<std::string, int, std::less<>> deletions_;
};

}  // namespace partita::insight
