#include "broker/authentication/key_set_schedule.h"

#include <algorithm>

namespace partita::authentication {

KeySetSchedule::KeySetSchedule(const KeySetPlace& place, Instant now)
    : refresh_ms_(std::min(place.refresh_ms, kWaitMsMax)),
      retry_ms_min_(std::min(place.retry_ms_min, kWaitMsMax)),
      retry_ms_max_(std::clamp(place.retry_ms_max, retry_ms_min_, kWaitMsMax)),
      next_fetch_(now + refresh_ms_),
      retry_ms_(retry_ms_min_) {}

void KeySetSchedule::fetched(Instant now) {
    next_fetch_ = now + refresh_ms_;
    retry_ms_ = retry_ms_min_;
    is_failing_ = false;
}

void KeySetSchedule::failed(Instant now) {
    next_fetch_ = now + retry_ms_;
    retry_ms_ = std::min(2 * retry_ms_, retry_ms_max_);
    is_failing_ = true;
}

bool KeySetSchedule::miss(std::string_view key_id, Instant now) {
    // While fetches fail, retries already run as often as the limit allows.
    if (key_id.empty() || key_id.size() > kKeyIdBytesMax || is_failing_ || next_fetch_ <= now) {
        return false;
    }
    if (!misses_.empty() && now - misses_.back().at < kMissRestMs) {
        return false;
    }
    const auto same = std::ranges::find(misses_, key_id, &Miss::key_id);
    if (same != misses_.end()) {
        if (now - same->at < kSameMissRestMs) {
            return false;
        }
        misses_.erase(same);
    }
    if (misses_.size() == kMissesMax) {
        misses_.pop_front();
    }
    misses_.push_back({std::string(key_id), now});
    next_fetch_ = now;
    return true;
}

}  // namespace partita::authentication
