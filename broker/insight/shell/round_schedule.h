#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "broker/insight/shell/round_pacing.h"
#include "schedule/executor.h"

namespace partita::insight {

/// The schedule of the observer of readers: the time of its next round, and the events that wake it before. While no topic is
/// watched it waits without end. After a while without requests it rests until the next one (RoundPacing).
///
/// Pure; one caller at a time.
class RoundSchedule {
  public:
    /// True if there are topics to look at. While it is false only growths matter.
    [[nodiscard]] bool is_watching() const { return is_watching_; }
    /// Notes that a note was left. True if the caller must wake the observer. Requests come in crowds, so only the first one
    /// after a rest wakes it; the first growth ends a wait without end.
    [[nodiscard]] bool on_note(bool is_growth) {
        has_news_ = true;
        if (!is_resting_ && (!is_growth || is_watching_)) {
            return false;
        }
        is_resting_ = false;
        is_watching_ = true;
        return true;
    }
    /// Notes that something else happened that may change what holds. True if the caller must wake the observer.
    [[nodiscard]] bool on_change() {
        if (!is_watching_) {
            return false;
        }
        has_news_ = true;
        return std::exchange(is_resting_, false);
    }
    /// Notes that topics were looked at. `is_watching`: there is something to come back for; `has_more`: there is something to do
    /// soon; `changes_at`: when the first of the topics changes by time alone.
    void on_looks(bool is_watching, bool has_more, std::optional<Instant> changes_at) {
        is_watching_ = is_watching;
        has_news_ = has_news_ || has_more;
        changes_at_ = changes_at;
    }

    /// A step of the observer asks this when it begins. Null if a round is due, else the time to come again.
    [[nodiscard]] std::optional<Instant> begin_step(Instant now) {
        if (!is_watching_) {
            next_round_ = kNever;
        } else if (next_round_ == kNever || (rests_ && has_news_)) {
            plan_round(now);
        }
        if (now < next_round_) {
            return next_round_;
        }
        is_resting_ = false;
        return std::nullopt;
    }
    /// Ends the round. Returns the time to come again, `least_ms` from now or later.
    [[nodiscard]] Instant end_step(Instant now, std::int64_t least_ms) {
        least_ms_ = least_ms;
        if (is_watching_) {
            plan_round(now);
        } else {
            next_round_ = kNever;
        }
        return next_round_;
    }
    /// The pause before the next round; asked once before each.
    [[nodiscard]] RoundPacing::Pause next_pause(std::int64_t least_ms, Instant now) {
        const auto due_in_ms = changes_at_ ? std::optional(*changes_at_ - now) : std::nullopt;
        return pacing_.next(std::exchange(has_news_, false), least_ms, due_in_ms);
    }

  private:
    void plan_round(Instant now) {
        const RoundPacing::Pause pause = next_pause(least_ms_, now);
        rests_ = is_resting_ = pause.ends_with_news;
        next_round_ = now + pause.ms;
    }

    RoundPacing pacing_;
    bool is_watching_ = false;
    bool has_news_ = false;
    /// The next news wakes the observer.
    bool is_resting_ = false;
    std::optional<Instant> changes_at_;
    Instant next_round_ = kNever;
    /// True if news starts the next round before `next_round_`; still true after news has woken the observer.
    bool rests_ = false;
    std::int64_t least_ms_ = 0;
};

}  // namespace partita::insight
