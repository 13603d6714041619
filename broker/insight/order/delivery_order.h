#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include <vector>

#include "broker/insight/order/key_cuts.h"
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
/// - It was *given back* if the group was handed `later` once more without such a commit. A consumer that loses a partition, or
///   dies, drops what it had fetched ahead; the next owner begins at the committed position. Whether an application had seen the
///   record before is then not known, and the key counts only here, until a commit.
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
};

/// A key that was handed out in wrong order.
struct WrongKey {
    KeyCut cut;
    std::uint64_t later_reader = 0;
    std::uint64_t earlier_reader = 0;
    TimestampMs later_time;
    TimestampMs earlier_time;
    bool is_in_one_answer = false;
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

    struct Counts {
        std::int64_t handed_out = 0;
        /// Included in `handed_out`, as all the following but `given_back`.
        std::int64_t processed = 0;
        std::int64_t in_one_answer = 0;
        std::int64_t given_back = 0;
        /// False: there was no room for some key or range, and the numbers are lower bounds.
        bool is_exact = true;
        /// When the first and the last of the keys in `handed_out` got its earlier record; kNoTimestamp if there is none.
        TimestampMs first = kNoTimestamp;
        TimestampMs last = kNoTimestamp;

        friend bool operator==(const Counts&, const Counts&) = default;
    };

    void hand_out(const HandOut& handed, const KeyCuts& cuts);
    /// The group's committed position in the partition is now `offset`. It may go back.
    void commit(PartitionIndex partition, Offset offset);
    /// Records of the partition before `offset` no longer exist: keys that wait for one of them wait in vain.
    void forget_before(PartitionIndex partition, Offset offset);

    /// Each key counts once, however many cuts it has.
    [[nodiscard]] Counts counts() const;
    /// The cuts that count as handed out in wrong order, in the order in which `KeyCuts` found them.
    [[nodiscard]] std::vector<WrongKey> wrong_keys() const;
    /// True if the group was handed everything in `[0, end)` of the partition, or began behind it.
    [[nodiscard]] bool has_all_before(PartitionIndex partition, Offset end) const;

  private:
    /// A cut whose later record was handed out, and whose earlier one was not before that.
    struct Key {
        KeyCut cut;
        std::uint64_t later_reader = 0;
        std::uint64_t later_answer = 0;
        TimestampMs later_time;
        /// The first hand-out with the earlier record; null while there is none.
        std::optional<HandOut> earlier;
        /// The group has committed a position behind the later record.
        bool is_committed = false;
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

    /// The group begins in the partition at `offset`.
    void begin(PartitionIndex partition, Offset offset);
    void hand_out_earlier(const HandOut& handed, Offset from, Offset to);
    void hand_out_later(const HandOut& handed, const KeyCuts& cuts);
    /// The key's later record is handed out once more, and no commit has passed it.
    static void hand_out_again(const HandOut& handed, Key& key);

    /// By partition.
    std::map<PartitionIndex, OffsetRanges> passed_;
    std::map<PartitionIndex, Offset> committed_;
    /// By the index of the cut.
    std::map<std::uint32_t, Key> keys_;
    /// The places of the later records of all of these.
    std::set<Place> later_;
    /// The places of the earlier records that were not handed out yet.
    std::set<Place> waiting_;
    bool has_no_room_ = false;
};

}  // namespace partita::insight
