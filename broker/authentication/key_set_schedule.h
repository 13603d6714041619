#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "broker/authentication/key_source.h"
#include "protocol/types.h"

namespace partita::authentication {

/// When a key set is fetched again: `sasl.oauthbearer.jwks.endpoint.refresh.ms`
/// after it was fetched; sooner after a failure, with waits that double from
/// retry.backoff.ms up to retry.backoff.max.ms; and at once for a token whose
/// key is not in it, since issuers change their keys when they like. As in
/// Kafka a missing key has the set fetched once in a minute; and whatever the
/// tokens of strangers name, it is not fetched for them more often than once in
/// a second.
///
/// A pure core.
class KeySetSchedule {
  public:
    static constexpr std::int64_t kMissRestMs = 1'000;
    static constexpr std::int64_t kSameMissRestMs = 60'000;
    /// Of how many missing keys it is remembered that they were looked for.
    static constexpr std::size_t kMissesMax = 16;
    /// A year: longer waits are as good as none, and times stay numbers.
    static constexpr std::int64_t kWaitMsMax = std::int64_t{365} * 24 * 3'600'000;
    /// A longer id is nobody's.
    static constexpr std::size_t kKeyIdBytesMax = 1'000;

    /// The set was fetched just now.
    KeySetSchedule(const KeySetPlace& place, Instant now);

    [[nodiscard]] Instant next_fetch() const { return next_fetch_; }
    void fetched(Instant now);
    void failed(Instant now);
    /// A token names this key, which is not in the set. True when the set is to
    /// be fetched sooner for it.
    bool miss(std::string_view key_id, Instant now);

  private:
    struct Miss {
        std::string key_id;
        Instant at;
    };

    std::int64_t refresh_ms_;
    std::int64_t retry_ms_min_;
    std::int64_t retry_ms_max_;
    Instant next_fetch_;
    /// The wait after the next failure.
    std::int64_t retry_ms_;
    bool is_failing_ = false;
    /// The one that was looked for last is the last.
    std::deque<Miss> misses_;
};

}  // namespace partita::authentication
