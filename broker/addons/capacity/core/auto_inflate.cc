#include "broker/addons/capacity/core/auto_inflate.h"

#include <algorithm>

namespace partita::capacity {
namespace {

std::int64_t needed(std::int64_t asked, std::int64_t unit, std::int64_t seconds) {
    if (unit <= 0) {
        return 0;
    }
    const std::int64_t given = unit * seconds;
    return asked / given + (asked % given > 0 ? 1 : 0);
}

/// A sum that stays as it is once it is beyond anything that units could carry.
std::int64_t added(std::int64_t sum, std::int64_t more) {
    constexpr std::int64_t kAskedMax = std::int64_t{1} << 60;
    return std::min(kAskedMax, sum + std::clamp<std::int64_t>(more, 0, kAskedMax));
}

}  // namespace

void AutoInflate::set_rule(Rule rule) {
    if (rule_ != rule) {
        rule_ = rule;
        is_counting_ = false;
    }
}

void AutoInflate::begin(Instant now) {
    is_counting_ = true;
    second_began_ = now;
    refused_in_second_ = false;
    waits_until_ = now;
    seconds_with_waits_ = 0;
    ingress_ = {};
    egress_ = {};
}

void AutoInflate::end_seconds(Instant now) {
    // The clock jumped, either way: no client waits that long.
    if (!is_counting_ || now < second_began_ || now - second_began_ > kLongestWaitMs + 2 * kSecondMs) {
        begin(now);
    }
    for (; now - second_began_ >= kSecondMs; second_began_ = second_began_ + kSecondMs) {
        if (!refused_in_second_ && waits_until_ <= second_began_) {
            begin(now);
            return;
        }
        ++seconds_with_waits_;
        refused_in_second_ = false;
    }
}

std::int32_t AutoInflate::units_for_demand() const {
    std::int64_t most = 0;
    for (const Direction& direction : {ingress_, egress_}) {
        most = std::max({most, needed(direction.asked.bytes, direction.unit.bytes, seconds_with_waits_),
                         needed(direction.asked.events, direction.unit.events, seconds_with_waits_)});
    }
    return static_cast<std::int32_t>(std::min<std::int64_t>(most, kUnitsMax));
}

std::optional<std::int32_t> AutoInflate::note(const Use& use, std::int32_t units, Instant now) {
    if (units >= rule_.units_max) {
        is_counting_ = false;
        return std::nullopt;
    }
    end_seconds(now);
    // Judged before this use counts, because the use belongs to the second that begins.
    std::optional<std::int32_t> more;
    if (seconds_with_waits_ > 0 && seconds_with_waits_ * kSecondMs >= rule_.after_ms) {
        more = std::clamp(units_for_demand(), units + 1, rule_.units_max);
        begin(now);
    }
    Direction& direction = use.is_ingress ? ingress_ : egress_;
    direction.unit = use.unit;
    direction.asked.bytes = added(direction.asked.bytes, use.asked.bytes);
    direction.asked.events = added(direction.asked.events, use.asked.events);
    refused_in_second_ |= !use.outcome.is_taken;
    if (use.outcome.is_taken && use.outcome.wait_ms > 0) {
        waits_until_ = std::max(waits_until_, now + use.outcome.wait_ms);
    }
    return more;
}

}  // namespace partita::capacity
