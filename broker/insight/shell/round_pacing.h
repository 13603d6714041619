#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace partita::insight {

/// Decides how long an observer sleeps between two rounds of looks. Pure; one caller at a time.
class RoundPacing {
  public:
    /// The observer settles findings this long after a request that may change them, and this often without one. A group's
    /// partitions and its backlog change without a request that the observer sees.
    static constexpr std::int64_t kSettleMs = 1000;
    static constexpr std::int64_t kIdleMs = 5000;
    /// After this many rounds without a request no client reads. The observer then rests, so that an idle broker stays idle.
    static constexpr int kIdleRounds = 12;
    static constexpr std::int64_t kRestMs = 300'000;

    struct Pause {
        std::int64_t ms = 0;
        /// The next request ends the pause.
        bool ends_with_news = false;
    };
    /// The pause before the next round; the observer asks once for each. `has_news`: there was a request since the last round.
    /// The pause is at least `least_ms`. It ends after `due_in_ms` at the latest, when a condition changes with time.
    [[nodiscard]] Pause next(bool has_news, std::int64_t least_ms, std::optional<std::int64_t> due_in_ms) {
        idle_rounds_ = has_news ? 0 : std::min(idle_rounds_ + 1, kIdleRounds + 1);
        const bool is_rest = idle_rounds_ > kIdleRounds;
        const std::int64_t usual_ms = has_news ? kSettleMs : is_rest ? kRestMs : kIdleMs;
        return {std::max({std::min(usual_ms, due_in_ms.value_or(usual_ms)), least_ms, kLeastMs}), is_rest};
    }

  private:
    /// The pause if something is due that cannot be looked at yet.
    static constexpr std::int64_t kLeastMs = 1;

    int idle_rounds_ = 0;
};

}  // namespace partita::insight
