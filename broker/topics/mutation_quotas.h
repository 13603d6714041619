#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "broker/topics/catalog.h"
#include "broker/topics/catalog_commands.h"
#include "broker/topics/client_quotas.h"

/// controller_mutation_rate (KIP-599): how many partitions a client may create and delete per second.
namespace partita::topics {

/// Kafka's token buckets. A bucket is full at first, holds what the rate gives in all windows together, and may be
/// overdrawn once: whoever still has something may take as much as it likes, and then waits until that is paid back.
class MutationQuotas {
  public:
    /// Buckets that are kept. Beyond them those that are full again are forgotten, which changes nothing, and then the
    /// one that was used least recently.
    static constexpr std::size_t kBucketsMax = 10'000;

    /// `controller.quota.window.num` times `controller.quota.window.size.seconds`: the seconds that a bucket holds.
    explicit MutationQuotas(std::int64_t window_seconds = 11) : window_seconds_(window_seconds) {}

    struct Charge {
        /// Nothing was taken.
        bool is_refused = false;
        /// How long the client has to wait until nothing is owed any more. 0 when it need not.
        std::int64_t wait_ms = 0;
    };
    /// Takes partitions out of a bucket. `refuses`: not when the bucket is overdrawn already.
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

/// Counts the partitions of one request.
class MutationMeter {
  public:
    MutationMeter(const CatalogSnapshot& catalog, const MutatingClient& client, const CatalogContext& context);

    /// THROTTLING_QUOTA_EXCEEDED, as in Kafka without a text, or `none`.
    [[nodiscard]] CatalogError charge(std::int64_t partitions);
    /// What the last partitions that were too many cost the client.
    [[nodiscard]] std::int64_t throttle_ms() const { return throttle_ms_; }

  private:
    MutationQuotas* const quotas_;
    const bool refuses_;
    const Instant now_;
    std::optional<QuotaInForce> quota_;
    std::int64_t throttle_ms_ = 0;
};

}  // namespace partita::topics
