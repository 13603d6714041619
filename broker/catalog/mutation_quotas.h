#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "broker/catalog/catalog.h"
#include "broker/catalog/client_quotas.h"
#include "broker/catalog/commands.h"

/// controller_mutation_rate (KIP-599): how many partitions a client may create and delete per second.
namespace partita::catalog {

/// Kafka's token buckets. A bucket starts full and holds what the rate gives in all windows together. While it is not overdrawn,
/// a client may take any number, and then waits until that is paid back.
class MutationQuotas {
  public:
    /// Most buckets that are kept. Beyond it, buckets that are full again are forgotten, which changes nothing. If there are
    /// none, the least recently used bucket goes.
    static constexpr std::size_t kBucketsMax = 10'000;

    /// `window_seconds`: the seconds that a bucket holds, `controller.quota.window.num` times
    /// `controller.quota.window.size.seconds`.
    explicit MutationQuotas(std::int64_t window_seconds = 11) : window_seconds_(window_seconds) {}

    struct Charge {
        /// The bucket was already overdrawn, so nothing was taken.
        bool is_refused = false;
        /// Milliseconds until the debt is paid, for a client that was refused or cannot be refused; else 0.
        std::int64_t wait_ms = 0;
    };
    /// Takes partitions out of a bucket. `refuses`: take nothing if the bucket is already overdrawn.
    [[nodiscard]] Charge charge(const QuotaInForce& quota, std::int64_t partitions, bool refuses, Instant now);

    [[nodiscard]] std::size_t bucket_count() const { return buckets_.size(); }

  private:
    struct Bucket {
        double tokens = 0;
        double rate = 0;
        Instant updated;
    };

    [[nodiscard]] double tokens_at(const Bucket& bucket, double rate, Instant now) const;
    void make_room(Instant now);

    const std::int64_t window_seconds_;
    std::unordered_map<std::string, Bucket> buckets_;
};

/// Charges the partitions of one request, topic by topic.
class MutationMeter {
  public:
    MutationMeter(const CatalogSnapshot& catalog, const MutatingClient& client, const CatalogContext& context);

    /// THROTTLING_QUOTA_EXCEEDED, without a text as in Kafka, or `none`.
    [[nodiscard]] CatalogError charge(std::int64_t partitions);
    /// The wait of the last charge that made the client wait, in milliseconds.
    [[nodiscard]] std::int64_t throttle_ms() const { return throttle_ms_; }

  private:
    MutationQuotas* const quotas_;
    const bool refuses_;
    const Instant now_;
    std::optional<QuotaInForce> quota_;
    std::int64_t throttle_ms_ = 0;
};

}  // namespace partita::catalog
