#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/share/aborted_batches.h"
#include "broker/share/in_flight.h"
#include "broker/share/record_state.h"
#include "protocol/error_code.h"
#include "protocol/types.h"

namespace partita::share {

/// Records that a member wants: the batches that were read from the log for it, from `fetch_offset` on.
struct Acquisition {
    MemberName member;
    AcquireMode mode = AcquireMode::batch_optimized;
    /// The client's wish for the size of acquired ranges. Whole batches of the log are kept together.
    std::int64_t batch_size = 0;
    std::int64_t max_records = 0;
    Offset fetch_offset;
    std::span<const ReadBatch> batches;
    /// The aborted transactions that a read_committed group must not see.
    std::span<const AbortedTransaction> aborted;
};

/// One part of a member's acknowledgement of a partition.
struct Acknowledgement {
    Offset first;
    /// Inclusive.
    Offset last;
    /// One for all records, or one for each.
    std::span<const AcknowledgeType> types;
};

struct ShareRefusal {
    ErrorCode error = ErrorCode::none;
    std::string message;
};

/// The records of one partition that a share group has in flight (KIP-932), as Kafka 4.3.1 decides about them. All records before
/// `start_offset` are done, all after the last batch are new to the group.
///
/// Changes of records that a restart must know come out as state batches. The caller persists them together with the start
/// offset and the count as they are then, and calls `advance` afterwards. If it cannot, it throws the object away and makes
/// another one from what is persisted: locks of members are then lost, and their records available again.
///
/// A pure core: no clock, no I/O. Costs grow with the batches in flight, which `ShareLimits::record_locks` bounds.
class SharePartition {
  public:
    /// From what is persisted, which `is_valid` must have accepted.
    SharePartition(Offset start, std::span<const StateBatch> persisted);
    /// False for state that no share partition writes.
    [[nodiscard]] static bool is_valid(Offset start, std::span<const StateBatch> persisted);

    [[nodiscard]] Offset start_offset() const { return start_; }
    /// The last offset that is in flight, or else the next one to fetch.
    [[nodiscard]] Offset end_offset() const { return end_; }
    /// Records from the start offset on that are done.
    [[nodiscard]] std::int32_t delivery_complete_count() const { return complete_; }
    /// Ascending by their first offsets.
    [[nodiscard]] const std::map<Offset, InFlightBatch>& batches() const { return batches_; }
    /// The records from the start offset to the end, done or not; they count towards `ShareLimits::record_locks`.
    [[nodiscard]] std::int64_t in_flight_count() const { return batches_.empty() ? 0 : end_ - start_ + 1; }

    // Delivery: share_partition_acquire.cc

    /// The offset from which the log should be read for the next delivery.
    [[nodiscard]] Offset next_fetch_offset();
    /// True if a member may get records now: some that are available again, or new ones.
    [[nodiscard]] bool can_acquire(const ShareLimits& limits);
    /// Locks records for the member. The ranges are cut as Kafka cuts them.
    [[nodiscard]] std::vector<AcquiredRange> acquire(const Acquisition& wanted, const ShareLimits& limits, Instant now);

    // Acknowledgement: share_partition_acknowledge.cc

    /// All of the acknowledgements take effect, or none.
    [[nodiscard]] std::expected<std::vector<StateBatch>, ShareRefusal> acknowledge(std::string_view member,
                                                                                   std::span<const Acknowledgement> given,
                                                                                   const ShareLimits& limits, Instant now);
    /// The member's session has ended: what it holds is available again.
    [[nodiscard]] std::vector<StateBatch> release(std::string_view member, const ShareLimits& limits);
    /// Records whose lock has ended are available again.
    [[nodiscard]] std::vector<StateBatch> end_locks(Instant now, const ShareLimits& limits);
    /// When `end_locks` is needed next, or earlier; unset if nothing is locked.
    [[nodiscard]] std::optional<Instant> next_lock_end() const { return next_lock_end_; }

    /// Moves the start offset over records that are done. True if it moved.
    bool advance();
    /// The log begins at `log_start` now, which is past the start offset. Records that a member holds stay with it.
    void log_start_moved(Offset log_start);

  private:
    using Batches = std::map<Offset, InFlightBatch>;

    /// Offsets that have no state although later ones were persisted with one: they are new to the group. It matters as long as
    /// nothing beyond `end` was delivered.
    struct Gap {
        Offset end;
        Offset start;
    };
    struct Room {
        Offset last;
        std::int64_t records = 0;
    };
    struct Acquired {
        std::vector<AcquiredRange> ranges;
        std::int64_t count = 0;
    };

    /// The batch that begins at `offset` or last before it.
    [[nodiscard]] Batches::iterator floor(Offset offset);
    [[nodiscard]] bool is_gap_open() const { return gap_ && gap_->end == end_; }
    void move_gap(Offset offset);
    [[nodiscard]] Room room_for(const Acquisition& wanted, const ShareLimits& limits) const;
    void archive_compacted(Offset fetch_offset, Offset base);
    /// Archives records of [from, end) that are in the state, in the batches from `begin` on. True if there were some.
    bool archive(Offset from, Offset end, Batches::iterator begin, RecordState state, bool is_counted);
    [[nodiscard]] Acquired acquire_new(const Acquisition& wanted, const ShareLimits& limits, Instant now, Offset first,
                                       Offset last, std::int64_t max_records);
    [[nodiscard]] std::vector<AcquiredRange> add_batches(const Acquisition& wanted, const ShareLimits& limits, Instant now,
                                                         Offset first, Offset last, std::int64_t max_records);
    [[nodiscard]] std::int64_t acquire_part(InFlightBatch& batch, const Acquisition& wanted, const ShareLimits& limits,
                                            Instant now, Offset last, std::int64_t max_records,
                                            std::vector<AcquiredRange>& ranges);
    void lock(InFlightRun& run, const Acquisition& wanted, const ShareLimits& limits, Instant now);
    /// Takes records of aborted transactions out of what was acquired.
    [[nodiscard]] std::vector<AcquiredRange> without_aborted(const Acquisition& wanted, std::vector<AcquiredRange> ranges);

    struct Undo;
    [[nodiscard]] std::optional<ShareRefusal> acknowledge_one(std::string_view member, const Acknowledgement& given,
                                                              const ShareLimits& limits, Instant now, Undo& undo);
    [[nodiscard]] std::optional<ShareRefusal> acknowledge_batch(std::string_view member, const Acknowledgement& given,
                                                                InFlightBatch& batch, const ShareLimits& limits, Instant now,
                                                                std::vector<StateBatch>& changes);
    /// Ends the member's hold of the run.
    void settle(InFlightRun& run, RecordState state, const ShareLimits& limits, std::vector<StateBatch>& changes);
    /// Puts acquired records back for which `is_over(run)` is true.
    template <class Predicate>
    [[nodiscard]] std::vector<StateBatch> put_back(const ShareLimits& limits, Predicate is_over);
    void find_next_lock_end();

    Offset start_;
    Offset end_;
    Batches batches_;
    std::int32_t complete_ = 0;
    /// True if a record before the end may be available.
    bool may_find_available_ = false;
    std::optional<Gap> gap_;
    std::optional<Instant> next_lock_end_;
};

}  // namespace partita::share
