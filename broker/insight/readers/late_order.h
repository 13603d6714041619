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

#include "broker/insight/keys/stale_writes.h"
#include "broker/insight/order/delivery_order.h"
#include "broker/insight/order/growth_scan.h"
#include "broker/insight/order/keyed_records.h"
#include "broker/insight/order/late_scan.h"
#include "broker/insight/readers/look_time.h"
#include "broker/partitioners/families.h"
#include "protocol/types.h"

namespace partita::insight {

/// The facts of one look, for LateOrder.
struct LateFacts {
    /// The growth and all before it, ascending.
    std::span<const GrowthCut> growths;
    TimestampMs grown;
    /// The log ends of the next growth; empty without one.
    std::vector<Offset> ends;
    /// The writers of all growths.
    std::span<const StaleWrites::Writer> writers;
    partitioners::FamilySet families;
    /// There are late records, though maybe no writer is known: the broker has started again since.
    bool has_late = false;
    /// The keys from before the growth; null if nobody has read them.
    const KeyCuts* homes = nullptr;
    /// `homes` has all of these keys.
    bool has_all_homes = false;
    /// There is no room for further groups.
    bool is_full = false;
    TimestampMs now;
    std::span<const Offset> log_starts;
    std::span<const Offset> log_ends;
    /// By group and partition, where the group goes on: it was handed everything before that, and all of it was passed to
    /// `LateOrder::hand_out`.
    const std::map<std::string, std::vector<Offset>, std::less<>>& positions;
    KeyedRecords& records;
};

/// In which order groups were handed records that producers still placed by an earlier count after a growth (see LateScan). Pure;
/// one caller at a time.
///
/// Most growths have no such records, or few. So this first only notes what groups were handed lately, and reads no log. It
/// judges from the moment on when such a writer is known, until no one writes so any more and each group has them all behind
/// it. It goes on when more records become known, or when a group comes back that has not.
class LateOrder {
  public:
    /// Hand-outs and commits that are noted while there is nothing to judge, and for how long.
    static constexpr std::size_t kNotedMax = 2048;
    static constexpr std::int64_t kNotedMs = 30'000;
    /// Most that wait to be judged. Without room they are left out, and the numbers become lower bounds.
    static constexpr std::size_t kWaitingMax = 65'536;
    static constexpr std::size_t kGroupsMax = 1024;
    /// A group is watched this long without a commit behind the last late record that it was handed.
    static constexpr std::int64_t kUncommittedMs = 600'000;

    /// The caller passes everything in the order in which it happened. `before`: where the group went on before all that the
    /// caller passes in this look and has not passed yet, by partition; empty if that is not known.
    void hand_out(const std::string& group, const HandOut& handed, std::span<const Offset> before);
    void commit(const std::string& group, PartitionIndex partition, Offset offset, TimestampMs time);
    /// Something was handed out that the caller cannot pass.
    void lose(TimestampMs time) {
        lost_ = std::max(lost_, time);
        has_lost_ = has_lost_ || is_judging();
    }
    void forget_group(const std::string& group);
    void forget_before(PartitionIndex partition, Offset offset);

    /// Judges what waits. False: the budget is used up, or a record is not decided.
    bool settle(const LateFacts& facts, LookTime& time);

    /// True if it keeps commits of the group.
    [[nodiscard]] bool is_noting(std::string_view group) const { return groups_.contains(group) || before_.contains(group); }
    /// True if it needs the records of everything that it is passed.
    [[nodiscard]] bool is_judging() const { return scan_.has_value(); }
    /// True if it needs `LateFacts::homes`.
    [[nodiscard]] bool needs_homes() const { return scan_ && families_.is_empty(); }
    /// True if something waits to be judged.
    [[nodiscard]] bool has_work() const { return is_judging() && !events_.empty(); }
    /// There are late records, and nobody knows how producers place keys.
    [[nodiscard]] bool is_blind() const { return is_blind_; }
    [[nodiscard]] bool is_exact() const { return !has_lost_ && !is_blind_ && !has_work() && (!scan_ || scan_->is_exact()); }
    /// Keys that are remembered.
    [[nodiscard]] std::size_t size() const;
    /// True if the answers to the group show in which order it was handed these records.
    [[nodiscard]] bool has_judged(std::string_view group, PartitionIndex from, Offset earlier, PartitionIndex to,
                                  Offset later) const;
    /// True if the group was surely handed nothing from this record on, in a partition from which it was handed something.
    [[nodiscard]] bool is_unread(std::string_view group, PartitionIndex partition, Offset offset) const;
    /// Calls `visit(group, order)` for all that was judged, each group's orders in the order of their time.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const auto& [group, orders] : told_) {
            for (const DeliveryOrder& order : orders) {
                visit(group, order);
            }
        }
        for (const auto& [group, watched] : groups_) {
            visit(group, watched.order);
        }
    }

  private:
    /// Judgements of one group that are remembered after their end.
    static constexpr std::size_t kToldMax = 4;

    struct Commit {
        PartitionIndex partition;
        Offset offset;
        TimestampMs time;
    };
    struct Event {
        std::string group;
        std::variant<HandOut, Commit> what;
    };
    struct Group {
        DeliveryOrder order;
        /// The cuts that `order` knows.
        std::size_t cuts = 0;
        /// When it was last handed a record in front of the last late one of a partition.
        TimestampMs last = kNoTimestamp;
        bool is_through = false;
    };
    /// The writers of this growth.
    struct Writing {
        std::int64_t records = 0;
        bool is_going_on = false;
        /// By partition, behind the last late record that is known; null if there may be further ones.
        std::optional<std::vector<Offset>> ends;
    };

    [[nodiscard]] static Writing writing_of(const LateFacts& facts);
    /// True if the group has all late records behind it, as far as it is known.
    [[nodiscard]] bool is_done(std::span<const Offset> before) const;
    [[nodiscard]] bool may_be_in_front_of_late(const HandOut& handed) const;
    /// True if late records have to be read for what the group was handed.
    [[nodiscard]] bool is_reading_for(const std::string& group) const;
    void add(Event event);
    void forget_old_notes(TimestampMs now);
    [[nodiscard]] Group* group_of(const std::string& name, const LateFacts& facts);
    /// Reads the late records that exist, before anything is judged. So each cut is found when its later record is handed out.
    [[nodiscard]] bool read_ahead(const LateFacts& facts, const Writing& writing);
    [[nodiscard]] bool judge(const Event& event, const LateFacts& facts);
    void end_watches(const LateFacts& facts, LookTime& time);
    void close();

    std::deque<Event> events_;
    /// By group with events and no order yet: where it went on before them.
    std::map<std::string, std::vector<Offset>, std::less<>> before_;
    std::optional<LateScan> scan_;
    partitioners::FamilySet families_;
    std::map<std::string, Group, std::less<>> groups_;
    std::map<std::string, std::deque<DeliveryOrder>, std::less<>> told_;
    /// Groups that were through when the judging last ended: they need not have committed. At most kGroupsMax a time.
    std::set<std::string, std::less<>> through_;
    /// As known when it was last judged completely, and no one was writing; null before that, and if something came since.
    std::optional<std::vector<Offset>> late_ends_;
    std::int64_t known_records_ = 0;
    /// A group that may have late records to read was handed something.
    bool is_wanted_ = false;
    /// When something was lost last that is not judged.
    TimestampMs lost_ = kNoTimestamp;
    bool has_lost_ = false;
    bool is_blind_ = false;
};

}  // namespace partita::insight
