#include "broker/net/connection_quota.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "broker/runtime/clients/client_throttles.h"

namespace partita::net {
namespace {

// The rate of connections per second if `max.connection.creation.rate` is 0.
constexpr double kSlowestArrivals = 1e-3;

}  // namespace

ConnectionQuota::ConnectionQuota(std::shared_ptr<const config::BrokerConfig> config, std::size_t descriptors_for_connections)
    : max_by_descriptors_(static_cast<std::int32_t>(
          std::min<std::size_t>(descriptors_for_connections, std::numeric_limits<std::int32_t>::max()))),
      config_(std::move(config)),
      arrivals_(runtime::quota_windows(*config_)) {}

void ConnectionQuota::follow(std::shared_ptr<const config::BrokerConfig> config) {
    const MutexLock lock(mutex_);
    config_ = std::move(config);
}

std::int32_t ConnectionQuota::limit_of(const std::string& address) const {
    const auto& overrides = config_->max_connections_per_ip_overrides;
    // If an address has two limits, the last one counts.
    const auto found =
        std::find_if(overrides.rbegin(), overrides.rend(), [&](const auto& override) { return override.first == address; });
    return found == overrides.rend() ? config_->max_connections_per_ip : found->second;
}

std::int64_t ConnectionQuota::arrive(Instant now) {
    const MutexLock lock(mutex_);
    const std::int32_t rate = config_->max_connection_creation_rate;
    if (rate == std::numeric_limits<std::int32_t>::max()) {
        return 0;
    }
    // A quota cannot express a rate of 0, so the slowest rate stands for it.
    const catalog::QuotaInForce quota{.rate = std::max<double>(rate, kSlowestArrivals), .bucket = "all"};
    return std::min(arrivals_.use(quota, 1, now), runtime::quota_windows(*config_).size_ms);
}

ConnectionQuota::Decision ConnectionQuota::open(const std::string& address) {
    const MutexLock lock(mutex_);
    std::int32_t& count = per_address_[address];
    if (count >= limit_of(address)) {
        if (count == 0) {
            per_address_.erase(address);
        }
        return Decision::too_many_from_address;
    }
    ++count;
    ++total_;
    ++opened_;
    return Decision::accepted;
}

void ConnectionQuota::close(const std::string& address) {
    const MutexLock lock(mutex_);
    if (const auto found = per_address_.find(address); found != per_address_.end()) {
        --total_;
        if (--found->second == 0) {
            per_address_.erase(found);
        }
    }
}

bool ConnectionQuota::has_room() const {
    const MutexLock lock(mutex_);
    return total_ < config_->max_connections && total_ < max_by_descriptors_;
}

bool ConnectionQuota::lacks_descriptors() const {
    const MutexLock lock(mutex_);
    return total_ >= max_by_descriptors_;
}

std::int32_t ConnectionQuota::count() const {
    const MutexLock lock(mutex_);
    return total_;
}

runtime::ConnectionCounts ConnectionQuota::counts() const {
    const MutexLock lock(mutex_);
    return {.opened = opened_, .closed = opened_ - static_cast<std::uint64_t>(total_)};
}

}  // namespace partita::net
