#include "broker/catalog/mutation_quotas.h"

#include <algorithm>
#include <cmath>

namespace partita::catalog {
namespace {

constexpr std::string_view kMutationRate = "controller_mutation_rate";

std::int64_t elapsed_ms(Instant from, Instant to) { return std::max<std::int64_t>(0, to - from); }

}  // namespace

double MutationQuotas::tokens_at(const Bucket& bucket, double rate, Instant now) const {
    const double most = rate * static_cast<double>(window_seconds_);
    return std::min(most, bucket.tokens + rate * static_cast<double>(elapsed_ms(bucket.updated, now)) / 1000.0);
}

MutationQuotas::Charge MutationQuotas::charge(const QuotaInForce& quota, std::int64_t partitions, bool refuses, Instant now) {
    auto found = buckets_.find(quota.bucket);
    if (found == buckets_.end()) {
        make_room(now);
        const Bucket full{.tokens = quota.rate * static_cast<double>(window_seconds_), .rate = quota.rate, .updated = now};
        found = buckets_.emplace(quota.bucket, full).first;
    }
    Bucket& bucket = found->second;
    bucket.tokens = tokens_at(bucket, quota.rate, now);
    bucket.rate = quota.rate;
    bucket.updated = now;
    const bool is_refused = refuses && bucket.tokens < 0;
    if (!is_refused) {
        bucket.tokens -= static_cast<double>(partitions);
    }
    // A client whose requests are never refused learns at once how long it must wait; others learn it with the refusal.
    const bool waits = bucket.tokens < 0 && (is_refused || !refuses);
    return {is_refused, waits ? std::llround(-bucket.tokens / quota.rate * 1000.0) : 0};
}

void MutationQuotas::make_room(Instant now) {
    if (buckets_.size() < kBucketsMax) {
        return;
    }
    std::erase_if(buckets_, [&](const auto& entry) {
        const Bucket& bucket = entry.second;
        return tokens_at(bucket, bucket.rate, now) >= bucket.rate * static_cast<double>(window_seconds_);
    });
    if (buckets_.size() < kBucketsMax) {
        return;
    }
    buckets_.erase(std::ranges::min_element(buckets_, {}, [](const auto& entry) { return entry.second.updated; }));
}

MutationMeter::MutationMeter(const CatalogSnapshot& catalog, const MutatingClient& client, const CatalogContext& context)
    : quotas_(client.is_charged ? nullptr : context.mutation_quotas),
      refuses_(client.may_be_refused),
      now_(context.now.monotonic) {
    if (quotas_ != nullptr) {
        quota_ = quota_of_client(catalog, client.user, client.client_id, kMutationRate);
    }
}

CatalogError MutationMeter::charge(std::int64_t partitions) {
    if (!quota_) {
        return {};
    }
    const MutationQuotas::Charge charged = quotas_->charge(*quota_, partitions, refuses_, now_);
    if (charged.wait_ms > 0) {
        throttle_ms_ = charged.wait_ms;
    }
    if (!charged.is_refused) {
        return {};
    }
    return {ErrorCode::throttling_quota_exceeded, std::nullopt};
}

}  // namespace partita::catalog
