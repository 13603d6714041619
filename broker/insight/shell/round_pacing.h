#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace partita::insight {

/// How long an observer sleeps between two rounds of looks. Pure; one caller at a time.
class RoundPacing {
  public:
    /// Findings are settled so long after a request that may change them, and so often without one: what a group holds and
    /// what waits for it changes without a request that is seen.
    static constexpr std::int64_t kSettleMs = 1000;
    static constexpr std::int64_t kIdleMs = 5000;
    /// After so many rounds without a request nobody reads: then it rests, so that an idle broker stays idle.
    static constexpr int kIdleRounds = 12;
    static constexpr std::int64_t kRestMs = 300'000;

    struct Pause {
        std::int64_t ms = 0;
        /// The next request ends it.
        bool ends_with_news = false;
    };
    /// The pause before the next round; the observer asks once for each. `has_news`: there was a request since the last round;
    /// `least_ms`: no shorter than this; `due_in_ms`: no longer than until then, when something that depends on time comes about.
    [[nodiscard]] Pause next(bool has_news, std::int64_t least_ms, std::optional<std::int64_t> due_in_ms) {
        idle_rounds_ = has_news ? 0 : std::min(idle_rounds_ + 1, kIdleRounds + 1);
        const bool is_rest = idle_rounds_ > kIdleRounds;
        const std::int64_t usual_ms = has_news ? kSettleMs : is_rest ? kRestMs : kIdleMs;
        return {std::max({std::min(usual_ms, due_in_ms.value_or(usual_ms)), least_ms, kLeastMs}), is_rest};
    }

  private:
    /// The pause before something that is due and cannot be looked at yet.
    static constexpr std::int64_t kLeastMs = 1;

    int idle_rounds_ = 0;
};

}  // namespace partita::insight
