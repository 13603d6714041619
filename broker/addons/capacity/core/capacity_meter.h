#pragma once

#include <cstdint>

#include "protocol/types.h"

/// Capacity that is bought in units: how much may pass, who has to wait for it, and when there should be more units.
namespace partita::capacity {

/// What passes in one direction, or may pass in a second.
struct Load {
    std::int64_t bytes = 0;
    std::int64_t events = 0;  ///< Records, those of compressed batches too.

    friend constexpr Load operator+(Load a, Load b) { return {a.bytes + b.bytes, a.events + b.events}; }
    friend constexpr bool operator==(Load, Load) = default;
};

/// More units, or more of anything in a second, than this are refused by the settings. They keep the arithmetic of a bucket far
/// from the ends of its numbers.
inline constexpr std::int32_t kUnitsMax = 1'000;
inline constexpr std::int64_t kPerUnitMax = 1'000'000'000;
/// Nobody is made to wait longer, whatever somebody would accept.
inline constexpr std::int64_t kLongestWaitMs = 600'000;

/// A token bucket for one resource. What is owed is kept in thousandths of bytes or events, and not as time: when the rate
/// changes, what is still owed is paid back at the new one.
class TokenBucket {
  public:
    /// What a full bucket holds, in milliseconds of its rate: so much passes at once after a pause. A hundredth of ten seconds.
    static constexpr std::int64_t kDepthMs = 100;

    /// 0 for no limit. A new bucket has none. One that gets its first limit is full; another keeps what it holds, or owes.
    void set_rate(std::int64_t per_second);
    [[nodiscard]] std::int64_t rate() const { return per_second_; }
    /// Fills what `elapsed_ms` give, up to the depth. Not below 0.
    void advance(std::int64_t elapsed_ms);
    /// How long somebody would wait who took `amount` now: until nothing is owed any more. `amount` is not below 0; the answer is
    /// at most kLongestWaitMs + 1, which says that it would be longer.
    [[nodiscard]] std::int64_t wait_ms(std::int64_t amount) const;
    /// Only for an amount that need not wait longer than kLongestWaitMs.
    void take(std::int64_t amount);
    /// Undoes a `take` of `amount`, as far as the bucket has not been filled since. Not below 0.
    void give_back(std::int64_t amount);

  private:
    [[nodiscard]] std::int64_t depth() const { return per_second_ * kDepthMs; }

    std::int64_t per_second_ = 0;
    // Thousandths; below 0 they are owed.
    std::int64_t held_ = 0;
};

/// One direction of a cluster's traffic, with bytes and events: what runs out first makes everybody wait. Who takes something now
/// is served behind all who did before, so equal clients get equal shares.
///
/// From idle, what passes in ten seconds is the capacity of ten seconds to within 1 %, and the last request.
class CapacityMeter {
  public:
    /// A clock that goes back by less than this is another reactor's, which read it a moment before.
    static constexpr std::int64_t kClockStepMsMax = 1'000;

    /// What may pass in a second, at most kUnitsMax * kPerUnitMax each; 0 for no limit.
    void set_rate(Load per_second, Instant now);
    [[nodiscard]] Load rate() const { return {bytes_.rate(), events_.rate()}; }

    struct Admission {
        /// False when the wait would be longer than the caller accepts. Then nothing was taken.
        bool is_taken = true;
        /// Milliseconds until it may be told that the load has passed.
        std::int64_t wait_ms = 0;
    };
    /// Takes `load` unless that means to wait for more than `wait_ms_max`, or for more than kLongestWaitMs. Negative loads count
    /// as none.
    [[nodiscard]] Admission admit(Load load, std::int64_t wait_ms_max, Instant now);
    /// How long somebody would wait who takes next to nothing: until what others have taken is paid for.
    [[nodiscard]] std::int64_t owed_ms(Instant now);
    /// Gives back what was taken and then not used.
    void give_back(Load load);

  private:
    void advance(Instant now);

    TokenBucket bytes_;
    TokenBucket events_;
    Instant advanced_;
};

}  // namespace partita::capacity
