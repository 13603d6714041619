#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "broker/config/broker_config.h"
#include "broker/topics/client_rates.h"
#include "protocol/mutex.h"
#include "protocol/types.h"

namespace partita::runtime {

/// `quota.window.num` and `quota.window.size.seconds`.
[[nodiscard]] topics::QuotaWindows quota_windows(const config::BrokerConfig& config);

/// What a quota limits, per second.
enum class Throttled : std::uint8_t {
    produced_bytes,     ///< producer_byte_rate: bytes of Produce requests
    fetched_bytes,      ///< consumer_byte_rate: bytes of Fetch replies
    request_time,       ///< request_percentage: percent of a thread's time that requests take
    connections,        ///< connection_creation_rate: connections that an address makes
};

/// Whom quotas tell apart: the name of the principal, and what the client calls itself.
struct QuotaClient {
    std::string_view user;
    std::string_view client_id;
};

/// Holds clients to their quotas of rates. Thread-safe. Where nobody has a quota of a kind, that kind costs one load.
///
/// Whoever gets a time back tells the client to wait for so long (ThrottleTimeMs) and lets its connection rest
/// (RequestContext::throttle): the client may not know how to wait.
class ClientThrottles {
  public:
    explicit ClientThrottles(topics::QuotaWindows windows);

    /// From now on the quotas of this catalog hold. Cheap when they are the ones that hold already.
    void follow(topics::CatalogPointer catalog);

    /// Somebody has a quota of that kind.
    [[nodiscard]] bool limits(Throttled what) const {
        return (limited_.load(std::memory_order_relaxed) & bit(what)) != 0;
    }

    /// Counts what a client used. How long it has to wait, in milliseconds: 0 when it need not.
    [[nodiscard]] std::int64_t use(Throttled what, const QuotaClient& client, double value, Now now);
    /// Counts the bytes of a reply. When the client has to wait it gets an empty one instead, and nothing is counted.
    [[nodiscard]] std::int64_t use_or_leave(Throttled what, const QuotaClient& client, double value, Now now);
    /// The same for the connections of an address in its numeric form: it waits while the connection is not served.
    [[nodiscard]] std::int64_t connect(std::string_view address, Now now);
    /// The most that the client can get at once without having to wait for certain. Very much without a quota.
    [[nodiscard]] std::int32_t most_bytes_at_once(Throttled what, const QuotaClient& client);

  private:
    static constexpr std::size_t kKinds = 4;

    [[nodiscard]] static std::uint32_t bit(Throttled what) { return 1U << static_cast<unsigned>(what); }
    [[nodiscard]] topics::ClientRates& rates(Throttled what) REQUIRES(mutex_) { return rates_[static_cast<std::size_t>(what)]; }
    [[nodiscard]] std::optional<topics::QuotaInForce> quota(Throttled what, const QuotaClient& client) const REQUIRES(mutex_);
    [[nodiscard]] std::int64_t bounded(Throttled what, std::int64_t wait_ms) const;

    const topics::QuotaWindows windows_;
    // A bit for each kind of which somebody has a quota.
    std::atomic<std::uint32_t> limited_ = 0;
    Mutex mutex_{LockRank::client_throttles};
    topics::CatalogPointer catalog_ GUARDED_BY(mutex_);
    std::array<topics::ClientRates, kKinds> rates_ GUARDED_BY(mutex_);
};

}  // namespace partita::runtime
