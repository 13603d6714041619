#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "broker/insight/order/cut_table.h"
#include "broker/insight/order/offset_ranges.h"
#include "protocol/types.h"

/// In which order a group was handed the records of keys that a growth moved. Pure; one caller at a time.
///
/// The broker knows which reader got which records. It does not know which of them an application processed, so the words here
/// are exact about the first and say no more than is known about the second:
///
/// - A key is *handed out in wrong order* if the group was handed the key's `later` record before it was handed `earlier` for the
///   first time (see KeyCut).
/// - It is *processed in wrong order* if the group, besides, committed a position behind `later`.
/// - It was *given back* if the group was handed one of the records once more without a commit behind it: `later` of a key in
///   wrong order, or `earlier` after `later` of a key in the right order. Whether an application had seen the record before is
///   then not known, and the key counts only here. So does a key whose `earlier` the group may have been handed before the watch.
///
/// A consumer that loses a partition drops what it had fetched ahead: Java and franz-go drop its buffer at the revocation,
/// librdkafka and sarama when they stop to fetch it. With auto commit, or commits in the callback of the revocation, it commits
/// what the application had; the next owner begins there. So if another reader begins below what was handed out, soon after the
/// last answer to the reader before it, and the group has committed just this position after that answer, then the records from
/// there on count as not handed out before. So do they if the same reader goes back to a position that the group has committed
/// after the last answer: librdkafka drops its queue of a partition that is paused. Without these signs, as after a crash or a
/// pause without a commit, keys are given back.
///
/// A reader takes its answers in their order. Two readers do not: if one of the records was still unfinished with another reader
/// (no commit behind it) when the second one was handed out, both were *in two members* at once, and only these know which came
/// first. That goes for keys in wrong order, and for keys that were handed out in the right order, which are counted apart.
///
/// An answer to a reader that is not attributed counts as if the group had got it. Keys with a record in it are *unattributed*
/// instead of in wrong order, and it does not tell where the group was.
///
/// Clients take the partitions of one answer in the order of the answer (Java's Fetcher completes fetches in that order; so do
/// librdkafka's broker thread and franz-go's sources). Keys whose two records came in one answer have a number of their own,
/// because an application that iterates over partitions by itself may see them in another order.
namespace partita::insight {

/// The records of one partition in one answer.
struct HandOut {
    /// Tells connections apart.
    std::uint64_t reader = 0;
    /// Ascends from answer to answer. The partitions of one answer come in their order, with the same number.
    std::uint64_t answer = 0;
    PartitionIndex partition;
    /// The offset that the reader asked for: it drops records of the first batch that lie before it.
    Offset from;
    /// Behind the last record.
    Offset to;
    TimestampMs time;
    /// The reader may belong to another group, or to none.
    bool is_attributed = true;
};

/// A key that was handed out in wrong order.
struct WrongKey {
    KeyCut cut;
    /// The readers and the times of the first hand-outs. 0 and kNoTimestamp if only commits prove the order.
    std::uint64_t later_reader = 0;
    std::uint64_t earlier_reader = 0;
    TimestampMs later_time = kNoTimestamp;
    TimestampMs earlier_time = kNoTimestamp;
    bool is_in_one_answer = false;
    bool is_in_two_members = false;
    bool is_processed = false;
};

/// One group's deliveries after one growth. The caller passes everything in the order in which it happened. A hand-out is passed
/// only when `cuts` covers it: all records from before the growth, and those of the hand-out.
///
/// The first hand-out of a partition tells where the group was when the watch began: everything before it counts as handed out
/// earlier, in the right order. So nothing is told that may have happened before the watch.
class DeliveryOrder {
  public:
    /// Most keys that are remembered: those that wait for their earlier record, and those in wrong order.
    static constexpr std::size_t kKeysMax = 65'536;
    /// Most connections that continue others. Beyond this, a connection counts as a reader of its own.
    static constexpr std::size_t kContinuedMax = 1024;
    /// A partition that changes its owner gets a new reader within this time after the last answer to the old one.
    static constexpr std::int64_t kHandoverMs = 10'000;

    struct Counts {
        std::int64_t handed_out = 0;
        /// Included in `handed_out`, as the next two.
        std::int64_t processed = 0;
        std::int64_t in_one_answer = 0;
        std::int64_t in_two_members = 0;
        std::int64_t given_back = 0;
        /// Keys that were handed out in the right order, but were in two members.
        std::int64_t overlapping = 0;
        /// Keys that were in wrong order if the readers that were not attributed belong to the group.
        std::int64_t unattributed = 0;
        /// False: there was no room for some key or range, and the numbers are lower bounds.
        bool is_exact = true;
        /// When the group got the earlier record of the first and of the last key in `handed_out`; kNoTimestamp without such
        /// keys.
        TimestampMs first = kNoTimestamp;
        TimestampMs last = kNoTimestamp;

        friend bool operator==(const Counts&, const Counts&) = default;
    };

    void hand_out(const HandOut& handed, const CutTable& cuts);
    /// The cuts from `first_index` on are new, and the group may have been handed their later records: if it was not handed
    /// the earlier one yet, the key waits for it.
    void discover(const CutTable& cuts, std::size_t first_index);
    /// The group was reading when the watch began: records in front of a partition's first hand-out may still be unfinished.
    /// `committed`: by partition, the group's commits before that; kNoOffset for none.
    void begin_at_work(std::span<const Offset> committed);
    /// Call it before the first hand-out of a partition whose begin does not tell what the group was handed before: a group that
    /// was at work may go back to its last commit. Keys with their earlier record there, in front of `until`, are only given
    /// back.
    void doubt_begin(PartitionIndex partition, Offset until) { doubted_.insert_or_assign(partition, until); }
    /// `reader` goes on as `next`, over another connection: both are one reader.
    void continue_reader(std::uint64_t reader, std::uint64_t next);
    /// The group's committed position in the partition is now `offset`. It may go back.
    /// `time`: kNoTimestamp if it is not known.
    void commit(PartitionIndex partition, Offset offset, TimestampMs time = kNoTimestamp);
    /// The group had been handed everything before `offset`, before the watch began or by a way that the caller does not see.
    /// If it was at work, a record before `offset` may have been unfinished with one member when another one was handed the key's
    /// later record: then the key overlaps.
    void reach(PartitionIndex partition, Offset offset);
    /// Records of the partition before `offset` no longer exist: keys with their earlier record there do not count any more.
    void forget_before(PartitionIndex partition, Offset offset);

    /// Keys that it remembers.
    [[nodiscard]] std::size_t size() const {
        return keys_.size() + overlapping_.size() + given_again_.size() + unattributed_.size();
    }
    /// True if a key was, or may have been, in wrong order.
    [[nodiscard]] bool has_told() const;
    /// Each key counts once, however many cuts it has.
    [[nodiscard]] Counts counts() const;
    /// The cuts that count as handed out in wrong order, in the order in which they were found.
    [[nodiscard]] std::vector<WrongKey> wrong_keys() const;
    /// The cuts of keys that were handed out in the right order, but were in two members.
    [[nodiscard]] std::vector<KeyCut> overlapping() const;
    /// The cuts of keys that were given back.
    [[nodiscard]] std::vector<KeyCut> given_back() const;
    /// The cuts of keys that are unattributed.
    [[nodiscard]] std::vector<KeyCut> unattributed() const;
    /// True if the group was handed the record while this watched it.
    [[nodiscard]] bool has_handed_out(PartitionIndex partition, Offset offset) const;
    /// The last commit in the partition since the watch began; null without one.
    struct LastCommit {
        Offset offset;
        TimestampMs time = kNoTimestamp;
    };
    [[nodiscard]] std::optional<LastCommit> committed(PartitionIndex partition) const;
    /// Where the first hand-out of the partition began; null before that.
    [[nodiscard]] std::optional<Offset> begin_of(PartitionIndex partition) const;
    /// Behind everything that the group was handed of the partition, as far as this watched it; null if it was handed nothing.
    [[nodiscard]] std::optional<Offset> end_of(PartitionIndex partition) const;
    /// True if the group was surely handed nothing from this record on, in a partition from which it was handed something.
    [[nodiscard]] bool is_unread(PartitionIndex partition, Offset offset) const;
    /// True if the group was handed everything in `[from, end)` of the partition, or began behind it.
    [[nodiscard]] bool has_all(PartitionIndex partition, Offset from, Offset end) const;

  private:
    /// A cut whose later record was handed out, and whose earlier one was not before that.
    struct Key {
        KeyCut cut;
        std::uint64_t later_reader = 0;
        std::uint64_t later_answer = 0;
        TimestampMs later_time;
        /// The first hand-out with the earlier record; null before that.
        std::optional<HandOut> earlier;
        /// The group has committed a position behind the later record.
        bool is_committed = false;
        /// The group was at work and had committed no position behind the earlier record when the later one was handed out.
        bool may_be_unfinished = false;
        /// The later record was with another reader, and unfinished, when the earlier one was handed out.
        bool is_in_two_members = false;
        /// The later record was handed out again, after the earlier one, without a commit.
        bool is_given_back = false;

        [[nodiscard]] bool is_wrong() const { return earlier && !is_given_back; }
    };
    /// Where a key's later or earlier record lies.
    struct Place {
        PartitionIndex partition;
        Offset offset;
        std::uint32_t cut = 0;

        friend auto operator<=>(const Place&, const Place&) = default;
    };

    /// The last hand-out of a partition.
    struct Last {
        std::uint64_t reader = 0;
        std::uint64_t answer = 0;
        Offset from;
        Offset to;
        TimestampMs time;
        std::uint64_t event = 0;
        /// Where the first hand-out began.
        Offset begin;
    };

    /// True if both are the same reader.
    [[nodiscard]] bool are_one(std::uint64_t reader, std::uint64_t other) const {
        return reader == other || first_of(reader) == first_of(other);
    }
    /// The connection over which the reader began.
    [[nodiscard]] std::uint64_t first_of(std::uint64_t reader) const {
        const auto continued = continued_.find(reader);
        return continued == continued_.end() ? reader : continued->second;
    }
    /// True if the records from `handed.from` on were dropped, by another reader from which this one takes over or by itself.
    [[nodiscard]] bool were_dropped(const HandOut& handed) const;
    /// The records from `from` on were dropped, so they count as not handed out.
    void drop(PartitionIndex partition, Offset from, const CutTable& cuts);
    /// The later record of the cut was handed out, and counts as last handed out with its partition; the earlier one was not.
    void wait_for_earlier(std::uint32_t index, const KeyCut& cut);
    [[nodiscard]] bool has_room() const { return size() < kKeysMax; }
    /// Notes the keys in the right order whose older record is handed out again.
    void note_given_again(const HandOut& handed, const CutTable& cuts);
    /// Notes the keys with a record in an answer to a reader that is not attributed.
    void note_unattributed(const HandOut& handed, const CutTable& cuts);
    [[nodiscard]] bool is_attributed(std::uint32_t index) const {
        return !are_all_unattributed_ && !unattributed_.contains(index);
    }
    /// The group has the records now.
    void pass(const HandOut& handed, const CutTable& cuts);
    void hand_out_earlier(const HandOut& handed, Offset from, Offset to);
    /// The same, and `reader` has the partition; null if that is not known.
    void reach(PartitionIndex partition, Offset offset, std::optional<std::uint64_t> reader);
    [[nodiscard]] bool is_doubtful(PartitionIndex partition, Offset offset) const {
        const auto doubted = doubted_.find(partition);
        return doubted != doubted_.end() && offset < doubted->second;
    }
    /// True if the group has no commit behind the record.
    [[nodiscard]] bool is_unfinished(PartitionIndex partition, Offset offset) const {
        const auto committed = committed_.find(partition);
        return committed == committed_.end() || committed->second.offset <= offset;
    }
    /// True if another reader than the one with the later record has, or may have, the partition of the earlier one.
    [[nodiscard]] bool may_be_with_another(const Key& key, std::optional<std::uint64_t> reader) const;
    /// True if the earlier record of the cut is, or may be, with another reader.
    [[nodiscard]] bool overlaps(const HandOut& handed, const KeyCut& cut) const;
    void hand_out_later(const HandOut& handed, const CutTable& cuts);
    /// The key's later record is handed out once more, and no commit has passed it.
    static void hand_out_again(const HandOut& handed, Key& key);

    /// By partition.
    std::map<PartitionIndex, OffsetRanges> passed_;
    /// The partitions of which something was handed out.
    std::map<PartitionIndex, Last> last_;
    /// Counts hand-outs and commits.
    std::uint64_t events_ = 0;
    struct Committed {
        Offset offset;
        /// 0 for a commit from before the watch.
        std::uint64_t event = 0;
        TimestampMs time = kNoTimestamp;
    };
    std::map<PartitionIndex, Committed> committed_;
    bool was_at_work_ = false;
    /// By the index of the cut.
    std::map<std::uint32_t, Key> keys_;
    /// The places of the later records of all of these.
    std::set<Place> later_;
    /// The places of the earlier records that were not handed out yet.
    std::set<Place> waiting_;
    /// The cuts that overlapped, by index.
    std::map<std::uint32_t, KeyCut> overlapping_;
    /// The cuts in the right order whose older record was handed out again, by index.
    std::map<std::uint32_t, KeyCut> given_again_;
    /// The indices of cuts with a record in an answer to a reader that is not attributed.
    std::set<std::uint32_t> unattributed_;
    /// There was no room for such an index.
    bool are_all_unattributed_ = false;
    /// By partition: the records in front of this may have been handed out before the watch.
    std::map<PartitionIndex, Offset> doubted_;
    /// Connections that continue others, with the connection over which their reader began.
    std::map<std::uint64_t, std::uint64_t> continued_;
    bool has_no_room_ = false;
};

}  // namespace partita::insight
