#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "broker/catalog/client_rates.h"
#include "broker/config/broker_config.h"
#include "broker/logs/step_switch.h"
#include "broker/logs/topics_listener.h"
#include "protocol/mutex.h"
#include "protocol/types.h"

namespace partita::runtime {

/// `quota.window.num` and `quota.window.size.seconds`.
[[nodiscard]] catalog::QuotaWindows quota_windows(const config::BrokerConfig& config);

/// The kinds of quotas.
enum class Throttled : std::uint8_t {
    produced_bytes,  ///< producer_byte_rate: bytes of Produce requests
    fetched_bytes,   ///< consumer_byte_rate: bytes of Fetch replies
    request_time,    ///< request_percentage: percent of a thread's time that requests take
    connections,     ///< connection_creation_rate: connections that an address makes
};

/// The client that a quota applies to: the principal's name and the client id.
struct QuotaClient {
    std::string_view user;
    std::string_view client_id;
};

/// Holds clients to their rate quotas. Thread-safe. A kind without quotas costs one load (`limits`).
///
/// If a call returns a wait, the caller reports it to the client (ThrottleTimeMs). The caller also pauses the connection
/// (RequestContext::throttle), because the client may not know how to wait.
class ClientThrottles final : public logs::TopicsListener {
  public:
    explicit ClientThrottles(catalog::QuotaWindows windows);

    /// Uses the quotas of this catalog from now on. Cheap if they have not changed.
    void follow(catalog::CatalogPointer catalog);
    void on_topics_changed(const logs::TopicsChange& change) override;

    /// True if any client has a quota of that kind.
    [[nodiscard]] bool limits(Throttled what) const { return limited_[static_cast<std::size_t>(what)].is_on(); }
    /// On while any client has a quota of that kind.
    [[nodiscard]] logs::StepSwitch& limited(Throttled what) { return limited_[static_cast<std::size_t>(what)]; }

    /// Counts what a client used. Returns how many milliseconds the client must wait; 0 if it need not.
    [[nodiscard]] std::int64_t use(Throttled what, const QuotaClient& client, double value, Now now);
    /// Like `use`, for the bytes of a reply. Counts nothing if the client must wait, because it then gets an empty reply.
    [[nodiscard]] std::int64_t use_or_leave(Throttled what, const QuotaClient& client, double value, Now now);
    /// Like `use`, for a connection from a numeric address. A connection that must wait is neither served nor counted.
    [[nodiscard]] std::int64_t connect(std::string_view address, Now now);
    /// How many bytes the client can get at once without certainly having to wait; the largest number if it has no quota.
    [[nodiscard]] std::int32_t most_bytes_at_once(Throttled what, const QuotaClient& client);

  private:
    static constexpr std::size_t kKinds = 4;

    [[nodiscard]] catalog::ClientRates& rates(Throttled what) REQUIRES(mutex_) { return rates_[static_cast<std::size_t>(what)]; }
    [[nodiscard]] std::optional<catalog::QuotaInForce> quota(Throttled what, const QuotaClient& client) const REQUIRES(mutex_);
    [[nodiscard]] std::int64_t bounded(Throttled what, std::int64_t wait_ms) const;

    const catalog::QuotaWindows windows_;
    /// By kind: on while any client has a quota of that kind.
    std::array<logs::StepSwitch, kKinds> limited_;
    Mutex mutex_{LockRank::client_throttles};
    catalog::CatalogPointer catalog_ GUARDED_BY(mutex_);
    std::array<catalog::ClientRates, kKinds> rates_ GUARDED_BY(mutex_);
};

}  // namespace partita::runtime
