#include "broker/addons/capacity/core/call_pacer.h"

#include <algorithm>

namespace partita::capacity {
namespace {

constexpr std::int64_t kThousandthsOfACall = 1'000;

}  // namespace

CallPacer::Key& CallPacer::key_of(std::string_view name, std::int32_t calls_per_second, Instant now) {
    if (const auto found = by_name_.find(name); found != by_name_.end()) {
        keys_.splice(keys_.begin(), keys_, found->second);
        return *found->second;
    }
    if (by_name_.size() == kKeysMax) {
        by_name_.erase(keys_.back().name);
        keys_.pop_back();
    }
    keys_.push_front({.name = std::string(name), .left = calls_per_second * kThousandthsOfACall, .advanced = now});
    by_name_.emplace(keys_.front().name, keys_.begin());
    return keys_.front();
}

std::int64_t CallPacer::call(std::string_view name, std::int32_t calls_per_second, Instant now) {
    if (calls_per_second <= 0) {
        return 0;
    }
    Key& key = key_of(name, calls_per_second, now);
    // One more call per second is a thousandth more per millisecond. Longer pauses, and clocks that jump, fill the second.
    const std::int64_t full = calls_per_second * kThousandthsOfACall;
    const std::int64_t elapsed_ms = std::clamp<std::int64_t>(now - key.advanced, 0, kWaitMsMax + 1'000);
    key.left = std::min(full, key.left + elapsed_ms * calls_per_second);
    key.advanced = now;
    const std::int64_t owed = kThousandthsOfACall - key.left;
    if (owed <= 0) {
        key.left -= kThousandthsOfACall;
        return 0;
    }
    const std::int64_t wait_ms = (owed + calls_per_second - 1) / calls_per_second;
    if (wait_ms > kWaitMsMax) {
        return kWaitMsMax;
    }
    key.left -= kThousandthsOfACall;
    return wait_ms;
}

}  // namespace partita::capacity
