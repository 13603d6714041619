#include "broker/runtime/clients/client_throttles.h"

#include <algorithm>
#include <limits>

#include "broker/logs/topic_table.h"

namespace partita::runtime {
namespace {

constexpr std::array<std::string_view, 4> kKeys = {
    "producer_byte_rate",
    "consumer_byte_rate",
    "request_percentage",
    "connection_creation_rate",
};

}  // namespace

catalog::QuotaWindows quota_windows(const config::BrokerConfig& config) {
    return {.count = std::get<std::int32_t>(config.value("quota.window.num")),
            .size_ms = std::int64_t{1000} * std::get<std::int32_t>(config.value("quota.window.size.seconds"))};
}

ClientThrottles::ClientThrottles(catalog::QuotaWindows windows)
    : windows_(windows),
      rates_{catalog::ClientRates(windows), catalog::ClientRates(windows), catalog::ClientRates(windows),
             catalog::ClientRates(windows)} {}

void ClientThrottles::on_topics_changed(const logs::TopicsChange& change) { follow(change.now.catalog); }

void ClientThrottles::follow(catalog::CatalogPointer catalog) {
    const MutexLock lock(mutex_);
    // Snapshots share unchanged parts.
    if (catalog_ && &catalog_->all_client_quotas() == &catalog->all_client_quotas()) {
        return;
    }
    catalog_ = std::move(catalog);
    std::array<bool, kKinds> limited{};
    for (const auto& [entity, quotas] : catalog_->all_client_quotas()) {
        for (std::size_t kind = 0; kind < kKeys.size(); ++kind) {
            if (quotas.find(kKeys[kind]) != quotas.end()) {
                limited[kind] = true;
            }
        }
    }
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
        limited_[kind].set(limited[kind]);
    }
}

std::optional<catalog::QuotaInForce> ClientThrottles::quota(Throttled what, const QuotaClient& client) const {
    return catalog::quota_of_client(*catalog_, client.user, client.client_id, kKeys[static_cast<std::size_t>(what)]);
}

/// For requests and connections, which recur, Kafka never demands a longer wait than one window.
std::int64_t ClientThrottles::bounded(Throttled what, std::int64_t wait_ms) const {
    const bool is_of_bytes = what == Throttled::produced_bytes || what == Throttled::fetched_bytes;
    const std::int64_t most = is_of_bytes ? std::numeric_limits<std::int32_t>::max() : windows_.size_ms;
    return std::min(wait_ms, most);
}

std::int64_t ClientThrottles::use(Throttled what, const QuotaClient& client, double value, Now now) {
    const MutexLock lock(mutex_);
    const auto limit = quota(what, client);
    return limit ? bounded(what, rates(what).use(*limit, value, now.monotonic)) : 0;
}

std::int64_t ClientThrottles::use_or_leave(Throttled what, const QuotaClient& client, double value, Now now) {
    const MutexLock lock(mutex_);
    const auto limit = quota(what, client);
    if (!limit) {
        return 0;
    }
    const std::int64_t wait_ms = bounded(what, rates(what).use(*limit, value, now.monotonic));
    if (wait_ms > 0) {
        rates(what).take_back(*limit, value, now.monotonic);
    }
    return wait_ms;
}

std::int64_t ClientThrottles::connect(std::string_view address, Now now) {
    constexpr Throttled kWhat = Throttled::connections;
    const MutexLock lock(mutex_);
    const auto limit = catalog::quota_of_address(*catalog_, address, kKeys[static_cast<std::size_t>(kWhat)]);
    if (!limit) {
        return 0;
    }
    const std::int64_t wait_ms = bounded(kWhat, rates(kWhat).use(*limit, 1, now.monotonic));
    // The broker refuses this connection, so it does not count.
    if (wait_ms > 0) {
        rates(kWhat).take_back(*limit, 1, now.monotonic);
    }
    return wait_ms;
}

std::int32_t ClientThrottles::most_bytes_at_once(Throttled what, const QuotaClient& client) {
    constexpr std::int32_t kUnlimited = std::numeric_limits<std::int32_t>::max();
    const MutexLock lock(mutex_);
    const auto limit = quota(what, client);
    return limit ? static_cast<std::int32_t>(std::min<double>(kUnlimited, rates(what).most_at_once(*limit))) : kUnlimited;
}

}  // namespace partita::runtime
