#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "broker/authentication/key_source.h"
#include "protocol/types.h"

namespace partita::authentication {

/// Decides when to fetch a key set again: `sasl.oauthbearer.jwks.endpoint.refresh.ms` after the last fetch; sooner after a
/// failure, with waits that double from retry.backoff.ms up to retry.backoff.max.ms; and at once for a token with an unknown key,
/// since issuers may change their keys at any time. As in Kafka, a missing key triggers at most one fetch in a minute. Tokens of
/// strangers trigger at most one fetch in a second, whatever keys they name.
///
/// A pure core.
class KeySetSchedule {
  public:
    static constexpr std::int64_t kMissRestMs = 1'000;
    static constexpr std::int64_t kSameMissRestMs = 60'000;
    /// How many missing keys it remembers.
    static constexpr std::size_t kMissesMax = 16;
    /// A year: longer waits have no practical use, and times must not overflow.
    static constexpr std::int64_t kWaitMsMax = std::int64_t{365} * 24 * 3'600'000;
    /// Longer ids are invalid.
    static constexpr std::size_t kKeyIdBytesMax = 1'000;

    /// The set has just been fetched.
    KeySetSchedule(const KeySetPlace& place, Instant now);

    [[nodiscard]] Instant next_fetch() const { return next_fetch_; }
    void fetched(Instant now);
    void failed(Instant now);
    /// A token names this unknown key. Returns true if the key moves the next fetch forward.
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
    /// The most recent one is last.
    std::deque<Miss> misses_;
};

}  // namespace partita::authentication
