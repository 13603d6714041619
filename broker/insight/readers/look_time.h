#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "protocol/types.h"

namespace partita::insight {

/// The time of one look at what holds, which notes when it will be worth looking again: conditions that count time ask it, and
/// what has not come yet will come by time alone. Pure.
class LookTime {
  public:
    explicit LookTime(TimestampMs now) : now_(now) {}

    [[nodiscard]] TimestampMs now() const { return now_; }
    /// At least so long ago. To be asked last of all that the condition depends on, so that nobody looks again for nothing.
    [[nodiscard]] bool has_passed(TimestampMs since, std::int64_t after_ms) {
        const std::int64_t due = since.value + after_ms;
        if (now_.value >= due) {
            return true;
        }
        next_ms_ = std::min(next_ms_, due);
        return false;
    }
    /// The first moment, after that of this look, that a condition waits for.
    [[nodiscard]] std::optional<TimestampMs> next() const {
        return next_ms_ == kNever ? std::nullopt : std::optional(TimestampMs{next_ms_});
    }

  private:
    static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

    TimestampMs now_;
    std::int64_t next_ms_ = kNever;
};

}  // namespace partita::insight
