#include "broker/insight/shell/reader_notes.h"

#include <utility>

namespace partita::insight {

void ReaderNotes::take_note(ReaderNote note) {
    const bool is_growth = note.is_growth();
    // Growths are few, and all other notes are useless without them.
    if (notes_.size() < kNotesMax || is_growth) {
        notes_.push_back(std::move(note));
    } else {
        // It may be a commit, by which deliveries are judged.
        has_lost_deliveries_ = true;
    }
}

void ReaderNotes::leave(ReaderNote note) {
    const MutexLock lock(mutex_);
    const bool is_growth = note.is_growth();
    const TopicId topic = note.topic;
    take_note(std::move(note));
    if (is_growth) {
        for (const ReaderNote& departure : departures_) {
            if (departure.topic == topic) {
                take_note(departure);
            }
        }
    }
    if (rounds_.on_note(is_growth) && worker_) {
        worker_->wake();
    }
}

void ReaderNotes::note_departure(ReaderNote left) {
    const MutexLock lock(mutex_);
    if (departures_.size() == kDeparturesMax) {
        departures_.pop_front();
    }
    departures_.push_back(std::move(left));
}

void ReaderNotes::leave_answer(std::span<DeliveryNote> deliveries) {
    const MutexLock lock(mutex_);
    ++answers_;
    for (DeliveryNote& delivery : deliveries) {
        if (deliveries_.size() == kDeliveriesMax) {
            has_lost_deliveries_ = true;
            return;
        }
        delivery.delivery.answer = answers_;
        delivery.notes_before = notes_taken_ + notes_.size();
        deliveries_.push_back(delivery);
    }
    if (rounds_.on_note(false) && worker_) {
        worker_->wake();
    }
}

void ReaderNotes::on_change() {
    const MutexLock lock(mutex_);
    if (rounds_.on_change() && worker_) {
        worker_->wake();
    }
}

bool ReaderNotes::is_watching() {
    const MutexLock lock(mutex_);
    return rounds_.is_watching();
}

bool ReaderNotes::has_positions(const TopicRef& topic, std::string_view group) {
    const MutexLock lock(mutex_);
    return positions_.contains(topic, group);
}

void ReaderNotes::note_positions(const TopicRef& topic, std::string_view group) {
    const MutexLock lock(mutex_);
    positions_.add(topic, group);
}

void ReaderNotes::forget_positions() {
    const MutexLock lock(mutex_);
    positions_.clear();
}

std::uint64_t ReaderNotes::watch_reads(std::span<const ReadPlace> places) {
    const MutexLock lock(mutex_);
    reads_.watch(places);
    return reads_.mask();
}

void ReaderNotes::note_read(const ReadPlace& place, ConnectionId connection, Offset from, TimestampMs now) {
    const MutexLock lock(mutex_);
    reads_.note(place, connection, from, now);
}

std::vector<SeenRead> ReaderNotes::take_reads() {
    const MutexLock lock(mutex_);
    return reads_.take();
}

void ReaderNotes::start(Executor& executor, Executor::Step step) {
    const MutexLock lock(mutex_);
    worker_ = executor.start_beside_clock("reader-observer", std::move(step));
}

void ReaderNotes::stop() {
    // Declared before the lock, so that the worker ends after the unlock: its present step may need the lock.
    std::unique_ptr<Worker> ended;
    const MutexLock lock(mutex_);
    ended.swap(worker_);
}

ReaderNotes::Taken ReaderNotes::take() {
    const MutexLock lock(mutex_);
    Taken taken{.notes = std::exchange(notes_, {}),
                .notes_before = notes_taken_,
                .deliveries = std::exchange(deliveries_, {}),
                .has_lost_deliveries = std::exchange(has_lost_deliveries_, false)};
    notes_taken_ += taken.notes.size();
    return taken;
}

void ReaderNotes::on_looks(bool has_topics, bool has_more, std::optional<Instant> changes_at) {
    const MutexLock lock(mutex_);
    rounds_.on_looks(has_topics || !notes_.empty(), has_more, changes_at);
}

std::optional<Instant> ReaderNotes::begin_step(Instant now) {
    const MutexLock lock(mutex_);
    return rounds_.begin_step(now);
}

Instant ReaderNotes::end_step(Instant now, std::int64_t least_ms) {
    const MutexLock lock(mutex_);
    return rounds_.end_step(now, least_ms);
}

RoundPacing::Pause ReaderNotes::next_pause(std::int64_t least_ms, Instant now) {
    const MutexLock lock(mutex_);
    return rounds_.next_pause(least_ms, now);
}

}  // namespace partita::insight
