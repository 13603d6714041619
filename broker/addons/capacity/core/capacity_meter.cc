#include "broker/addons/capacity/core/capacity_meter.h"

#include <algorithm>
#include <limits>

#include "protocol/assert.h"

namespace partita::capacity {
namespace {

constexpr std::int64_t kThousandths = 1'000;
// A rate times milliseconds gives thousandths. The most that can be owed is what passes in the longest wait.
constexpr std::int64_t kRateMax = kUnitsMax * kPerUnitMax;
constexpr std::int64_t kTimeMax = kLongestWaitMs + TokenBucket::kDepthMs;
static_assert(kRateMax <= std::numeric_limits<std::int64_t>::max() / 4 / kTimeMax);

}  // namespace

void TokenBucket::set_rate(std::int64_t per_second) {
    PARTITA_ASSERT(per_second >= 0 && per_second <= kRateMax, "settings are bounded");
    const bool was_unlimited = per_second_ == 0;
    per_second_ = per_second;
    held_ = was_unlimited ? depth() : std::min(held_, depth());
    // A debt from a higher rate could otherwise last for hours at a low one.
    held_ = std::max(held_, -per_second_ * kLongestWaitMs);
}

void TokenBucket::advance(std::int64_t elapsed_ms) {
    // More time than this fills any bucket, whatever it owes.
    held_ = std::min(depth(), held_ + per_second_ * std::min(elapsed_ms, kTimeMax));
}

std::int64_t TokenBucket::wait_ms(std::int64_t amount) const {
    if (per_second_ == 0) {
        return 0;
    }
    // Larger amounts wait too long with any bucket, and would not fit into the numbers below.
    const std::int64_t too_much = per_second_ / kThousandths * kTimeMax + kTimeMax;
    if (amount > too_much) {
        return kLongestWaitMs + 1;
    }
    const std::int64_t owed = amount * kThousandths - held_;
    if (owed <= 0) {
        return 0;
    }
    return std::min(kLongestWaitMs + 1, (owed + per_second_ - 1) / per_second_);
}

void TokenBucket::take(std::int64_t amount) {
    if (per_second_ > 0) {
        held_ -= amount * kThousandths;
    }
}

void TokenBucket::give_back(std::int64_t amount) {
    // No `take` was larger than what passes in the longest wait, so more would only fill the bucket.
    const std::int64_t most = per_second_ / kThousandths * kTimeMax + kTimeMax;
    held_ = std::min(depth(), held_ + std::min(amount, most) * kThousandths);
}

void CapacityMeter::advance(Instant now) {
    const std::int64_t elapsed_ms = now - advanced_;
    if (elapsed_ms < 0 && elapsed_ms > -kClockStepMsMax) {
        return;
    }
    // The clock may have jumped: after a jump back counting continues from here; a jump ahead fills a bucket once.
    advanced_ = now;
    if (elapsed_ms > 0) {
        bytes_.advance(elapsed_ms);
        events_.advance(elapsed_ms);
    }
}

void CapacityMeter::set_rate(Load per_second, Instant now) {
    advance(now);
    bytes_.set_rate(per_second.bytes);
    events_.set_rate(per_second.events);
}

CapacityMeter::Admission CapacityMeter::admit(Load load, std::int64_t wait_ms_max, Instant now) {
    advance(now);
    const Load asked{std::max<std::int64_t>(0, load.bytes), std::max<std::int64_t>(0, load.events)};
    const std::int64_t wait_ms = std::max(bytes_.wait_ms(asked.bytes), events_.wait_ms(asked.events));
    if (wait_ms > std::min(wait_ms_max, kLongestWaitMs)) {
        return {.is_taken = false, .wait_ms = std::min(wait_ms, kLongestWaitMs)};
    }
    bytes_.take(asked.bytes);
    events_.take(asked.events);
    return {.wait_ms = wait_ms};
}

std::int64_t CapacityMeter::owed_ms(Instant now) {
    advance(now);
    return std::max(bytes_.wait_ms(0), events_.wait_ms(0));
}

void CapacityMeter::give_back(Load load) {
    bytes_.give_back(std::max<std::int64_t>(0, load.bytes));
    events_.give_back(std::max<std::int64_t>(0, load.events));
}

}  // namespace partita::capacity
