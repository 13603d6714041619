#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "broker/insight/ownership/fenced_readers.h"
#include "broker/insight/shell/reader_note.h"
#include "broker/insight/shell/round_schedule.h"
#include "broker/insight/shell/told_positions.h"
#include "protocol/mutex.h"

namespace partita::insight {

/// The notes that wait for the observer of readers, and the schedule of its rounds. Requests leave notes and go on; the first one
/// after a rest wakes the observer's worker.
///
/// Thread-safe. It holds its lock for a few instructions, and calls only `Worker::wake` and, once, `Executor::start` meanwhile.
class ReaderNotes {
  public:
    /// Most notes that may wait. Further ones are not taken, except those about growths.
    static constexpr std::size_t kNotesMax = 100'000;
    /// Most deliveries that may wait. Further ones are not taken, and the observer is told so.
    static constexpr std::size_t kDeliveriesMax = OrderWatch::kWaitingMax;
    /// Departures that are remembered, see `note_departure`: the last ones.
    static constexpr std::size_t kDeparturesMax = 1024;

    // Any thread -------------------------------------------------------------------------------------

    void leave(ReaderNote note);
    /// Remembers a `ReaderNote::Left` of a topic that has not grown. If it grows, the note follows that of its growth: a fetch of
    /// such a member may still be answered.
    void note_departure(ReaderNote left);
    /// Leaves notes of the records in one answer, in the answer's order. Sets their `answer` and `notes_before`.
    void leave_answer(std::span<DeliveryNote> deliveries);
    /// Tells that something happened, without a note, that may change what holds.
    void on_change();
    [[nodiscard]] bool is_watching();
    /// True if a note contained the positions that the group had before the topic's last growth; see ToldPositions.
    [[nodiscard]] bool has_positions(const TopicRef& topic, std::string_view group);
    void note_positions(const TopicRef& topic, std::string_view group);
    void forget_positions();

    // Fetches by members that were removed; see FencedReads.

    /// Returns the mask of the places (`ReadNotes::mask`).
    [[nodiscard]] std::uint64_t watch_reads(std::span<const ReadPlace> places);
    void note_read(const ReadPlace& place, ConnectionId connection, Offset from, TimestampMs now);
    [[nodiscard]] std::vector<SeenRead> take_reads();

    // The observer; see RoundSchedule ----------------------------------------------------------------

    /// Starts the worker that notes wake; `stop` ends it. One thread calls `start` and `stop`.
    void start(Executor& executor, Executor::Step step);
    void stop();
    struct Taken {
        std::deque<ReaderNote> notes;
        /// The value of `DeliveryNote::notes_before` of a delivery that came before all of these notes.
        std::uint64_t notes_before = 0;
        std::vector<DeliveryNote> deliveries;
        /// Some deliveries were not taken, for lack of room.
        bool has_lost_deliveries = false;
    };
    /// Takes everything that waits.
    [[nodiscard]] Taken take();
    /// `has_topics`: at least one topic is watched.
    void on_looks(bool has_topics, bool has_more, std::optional<Instant> changes_at);
    [[nodiscard]] std::optional<Instant> begin_step(Instant now);
    [[nodiscard]] Instant end_step(Instant now, std::int64_t least_ms);
    [[nodiscard]] RoundPacing::Pause next_pause(std::int64_t least_ms, Instant now);

  private:
    Mutex mutex_{LockRank::reader_notes};
    void take_note(ReaderNote note) REQUIRES(mutex_);

    std::deque<ReaderNote> notes_ GUARDED_BY(mutex_);
    std::deque<ReaderNote> departures_ GUARDED_BY(mutex_);
    /// Number of notes that were taken.
    std::uint64_t notes_taken_ GUARDED_BY(mutex_) = 0;
    std::vector<DeliveryNote> deliveries_ GUARDED_BY(mutex_);
    std::uint64_t answers_ GUARDED_BY(mutex_) = 0;
    bool has_lost_deliveries_ GUARDED_BY(mutex_) = false;
    ToldPositions positions_ GUARDED_BY(mutex_);
    ReadNotes reads_ GUARDED_BY(mutex_);
    RoundSchedule rounds_ GUARDED_BY(mutex_);
    std::unique_ptr<Worker> worker_ GUARDED_BY(mutex_);
};

}  // namespace partita::insight
