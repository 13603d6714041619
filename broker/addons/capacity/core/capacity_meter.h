#pragma once

#include <cstdint>

#include "protocol/types.h"

/// Capacity that is bought in units: the traffic that may pass, the waits for it, and the time for more units.
namespace partita::capacity {

/// The traffic that passes in one direction, or may pass in a second.
struct Load {
    std::int64_t bytes = 0;
    std::int64_t events = 0;  ///< Number of records, including those of compressed batches.

    friend constexpr Load operator+(Load a, Load b) { return {a.bytes + b.bytes, a.events + b.events}; }
    friend constexpr bool operator==(Load, Load) = default;
};

/// The settings allow at most `kUnitsMax` units, and at most `kPerUnitMax` a second for each. So the arithmetic of a bucket stays
/// far from the ends of its numbers.
inline constexpr std::int32_t kUnitsMax = 1'000;
inline constexpr std::int64_t kPerUnitMax = 1'000'000'000;
/// The longest wait for any client, even if it would accept a longer one.
inline constexpr std::int64_t kLongestWaitMs = 600'000;

/// A token bucket for one resource. It keeps the debt in thousandths of bytes or events, not as time: if the rate changes, the
/// rest of the debt is paid back at the new rate.
class TokenBucket {
  public:
    /// Depth of a full bucket in milliseconds of its rate: the burst allowed after a pause. It is 1 % of ten seconds, which
    /// CapacityMeter's promise allows.
    static constexpr std::int64_t kDepthMs = 100;

    /// 0 means no limit, as in a new bucket. A bucket that had no limit becomes full. Another keeps its contents up to the new
    /// depth, and its debt up to what the new rate pays in kLongestWaitMs.
    void set_rate(std::int64_t per_second);
    [[nodiscard]] std::int64_t rate() const { return per_second_; }
    /// Adds the amount that passes in `elapsed_ms`, up to the depth. `elapsed_ms` is not below 0.
    void advance(std::int64_t elapsed_ms);
    /// The wait, in milliseconds, of a client that takes `amount` now: the time until the debt is paid. `amount` is not below 0.
    /// Every wait longer than kLongestWaitMs is returned as kLongestWaitMs + 1.
    [[nodiscard]] std::int64_t wait_ms(std::int64_t amount) const;
    /// Only for an amount whose wait is not longer than kLongestWaitMs.
    void take(std::int64_t amount);
    /// Undoes a `take` of `amount`, as far as the bucket has not been filled since. `amount` is not below 0.
    void give_back(std::int64_t amount);

  private:
    [[nodiscard]] std::int64_t depth() const { return per_second_ * kDepthMs; }

    std::int64_t per_second_ = 0;
    // In thousandths; below 0 they are owed.
    std::int64_t held_ = 0;
};

/// One direction of a cluster's traffic, in bytes and events: the resource that runs out first makes all clients wait. A client
/// that takes something now is served after all who took before, so equal clients get equal shares.
///
/// From idle, the traffic that passes in ten seconds equals the capacity of ten seconds to within 1 %, plus the last request.
class CapacityMeter {
  public:
    /// Reactors read the clock at slightly different moments, so a step back of less than this is no change of the clock.
    static constexpr std::int64_t kClockStepMsMax = 1'000;

    /// The traffic that may pass in a second, at most kUnitsMax * kPerUnitMax each; 0 for no limit.
    void set_rate(Load per_second, Instant now);
    [[nodiscard]] Load rate() const { return {bytes_.rate(), events_.rate()}; }

    struct Admission {
        /// False if the wait would be longer than the caller accepts. Then nothing was taken.
        bool is_taken = true;
        /// Milliseconds until the broker may answer that the load has passed.
        std::int64_t wait_ms = 0;
    };
    /// Takes `load` unless the wait would exceed `wait_ms_max` or kLongestWaitMs. Negative loads count as zero.
    [[nodiscard]] Admission admit(Load load, std::int64_t wait_ms_max, Instant now);
    /// The wait, in milliseconds, of a client that takes almost nothing: the time until earlier debts are paid.
    [[nodiscard]] std::int64_t owed_ms(Instant now);
    /// Gives back load that was taken but not used.
    void give_back(Load load);

  private:
    void advance(Instant now);

    TokenBucket bytes_;
    TokenBucket events_;
    Instant advanced_;
};

}  // namespace partita::capacity
