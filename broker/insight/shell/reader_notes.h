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

/// The notes that wait for the observer of readers, and when it comes for them. Requests leave notes and go on; the first one
/// after a rest wakes the observer's worker.
///
/// Thread-safe. Its lock is held for a few instructions, and nothing is called meanwhile but `Worker::wake` and, once,
/// `Executor::start`.
class ReaderNotes {
  public:
    /// How many notes may wait to be settled. Further ones are not taken, except those about growths.
    static constexpr std::size_t kNotesMax = 100'000;

    // Any thread -------------------------------------------------------------------------------------

    void leave(ReaderNote note);
    /// Says that something happened, of which no note tells, that may change what holds.
    void on_change();
    [[nodiscard]] bool is_watching();
    /// Whether a note told the positions that the group had before the topic's last growth; see ToldPositions.
    [[nodiscard]] bool has_positions(const TopicRef& topic, std::string_view group);
    void note_positions(const TopicRef& topic, std::string_view group);
    void forget_positions();

    // Fetches by members that were put out; see FencedReads.

    /// Returns the mask of the places (`ReadNotes::mask`).
    [[nodiscard]] std::uint64_t watch_reads(std::span<const ReadPlace> places);
    void note_read(const ReadPlace& place, ConnectionId connection, Offset from, TimestampMs now);
    [[nodiscard]] std::vector<SeenRead> take_reads();

    // The observer; see RoundSchedule ----------------------------------------------------------------

    /// The worker that is woken; it ends with `stop`. The calls of `start` and `stop` are one thread's.
    void start(Executor& executor, Executor::Step step);
    void stop();
    /// Everything that waits; then nothing does.
    [[nodiscard]] std::deque<ReaderNote> take();
    /// `has_topics`: any are watched.
    void on_looks(bool has_topics, bool has_more, std::optional<Instant> changes_at);
    [[nodiscard]] std::optional<Instant> begin_step(Instant now);
    [[nodiscard]] Instant end_step(Instant now, std::int64_t least_ms);
    [[nodiscard]] RoundPacing::Pause next_pause(std::int64_t least_ms, Instant now);

  private:
    Mutex mutex_{LockRank::reader_notes};
    std::deque<ReaderNote> notes_ GUARDED_BY(mutex_);
    ToldPositions positions_ GUARDED_BY(mutex_);
    ReadNotes reads_ GUARDED_BY(mutex_);
    RoundSchedule rounds_ GUARDED_BY(mutex_);
    std::unique_ptr<Worker> worker_ GUARDED_BY(mutex_);
};

}  // namespace partita::insight
