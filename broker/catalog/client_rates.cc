#include "broker/catalog/client_rates.h"

#include <algorithm>
#include <cmath>

namespace partita::catalog {

void WindowedRate::record(double value, Instant now) {
    if (used_.empty()) {
        used_.push_back({.began = now, .last_used = now});
    } else if (now - used_[current_].began >= windows_.size_ms) {
        current_ = (current_ + 1) % (static_cast<std::size_t>(windows_.count) + 1);
        const Window fresh{.began = now, .last_used = now};
        if (current_ == used_.size()) {
            used_.push_back(fresh);
        } else {
            used_[current_] = fresh;
        }
    }
    Window& window = used_[current_];
    window.value += value;
    window.last_used = now;
}

void WindowedRate::forget_old(Instant now) {
    const std::int64_t age_max_ms = windows_.count * windows_.size_ms;
    for (Window& window : used_) {
        if (now - window.last_used >= age_max_ms) {
            window = {.began = now, .last_used = now};
        }
    }
}

std::int64_t WindowedRate::span_ms(Instant now) {
    forget_old(now);
    if (used_.empty()) {
        return std::max<std::int64_t>(1, (windows_.count - 1) * windows_.size_ms);
    }
    std::int64_t span = now - std::ranges::min_element(used_, {}, &Window::began)->began;
    const std::int64_t full_windows = span / windows_.size_ms;
    span += std::max<std::int64_t>(0, windows_.count - 1 - full_windows) * windows_.size_ms;
    return std::max<std::int64_t>(1, span);
}

double WindowedRate::per_second(Instant now) {
    const double seconds = static_cast<double>(span_ms(now)) / 1000.0;
    double sum = 0;
    for (const Window& window : used_) {
        sum += window.value;
    }
    return sum / seconds;
}

WindowedRate& ClientRates::rate_of(std::string_view bucket) {
    if (const auto found = by_bucket_.find(bucket); found != by_bucket_.end()) {
        clients_.splice(clients_.begin(), clients_, found->second);
        return found->second->rate;
    }
    if (by_bucket_.size() == kClientsMax) {
        by_bucket_.erase(clients_.back().bucket);
        clients_.pop_back();
    }
    clients_.push_front({std::string(bucket), WindowedRate(windows_)});
    by_bucket_.emplace(clients_.front().bucket, clients_.begin());
    return clients_.front().rate;
}

std::int64_t ClientRates::use(const QuotaInForce& quota, double value, Instant now) {
    WindowedRate& rate = rate_of(quota.bucket);
    rate.record(value, now);
    const double used = rate.per_second(now);
    if (used <= quota.rate) {
        return 0;
    }
    return std::llround((used - quota.rate) / quota.rate * static_cast<double>(rate.span_ms(now)));
}

void ClientRates::take_back(const QuotaInForce& quota, double value, Instant now) { rate_of(quota.bucket).record(-value, now); }

double ClientRates::most_at_once(const QuotaInForce& quota) const {
    return quota.rate * (windows_.count - 1) * static_cast<double>(windows_.size_ms) / 1000.0;
}

}  // namespace partita::catalog
