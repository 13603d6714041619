#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "protocol/types.h"

namespace partita::insight {

/// The time of one look. It also notes when the next look is worthwhile: conditions that count time ask this class, and time
/// alone will bring what has not come yet. Pure.
class LookTime {
  public:
    explicit LookTime(TimestampMs now) : now_(now) {}

    [[nodiscard]] TimestampMs now() const { return now_; }
    /// True if `since` is at least `after_ms` ago. Ask it after everything else that the condition depends on, so that no look
    /// comes in vain.
    [[nodiscard]] bool has_passed(TimestampMs since, std::int64_t after_ms) {
        const std::int64_t due = since.value + after_ms;
        if (now_.value >= due) {
            return true;
        }
        next_ms_ = std::min(next_ms_, due);
        return false;
    }
    /// The first moment after this look for which a condition waits.
    [[nodiscard]] std::optional<TimestampMs> next() const {
        return next_ms_ == kNever ? std::nullopt : std::optional(TimestampMs{next_ms_});
    }

  private:
    static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

    TimestampMs now_;
    std::int64_t next_ms_ = kNever;
};

}  // namespace partita::insight
