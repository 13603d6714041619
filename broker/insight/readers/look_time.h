#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "protocol/types.h"

namespace partita::insight {

/// The time of one look. A condition that holds only some time after an event asks `has_passed`. If that time is not over, this
/// class notes when it will be, so that the observer looks again then. Pure.
class LookTime {
  public:
    explicit LookTime(TimestampMs now) : now_(now) {}

    [[nodiscard]] TimestampMs now() const { return now_; }
    /// True if `since` is at least `after_ms` ago. A condition with several parts asks this last: otherwise it would cause a look
    /// that its other parts make useless.
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
