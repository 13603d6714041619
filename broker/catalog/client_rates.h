#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "broker/catalog/client_quotas.h"
#include "protocol/types.h"

/// The clients' use per second, compared with their quotas (KIP-13, KIP-124, KIP-219, KIP-612): bytes produced, bytes fetched,
/// share of a request thread, connections made.
namespace partita::catalog {

struct QuotaWindows {
    std::int32_t count = 11;
    std::int64_t size_ms = 1000;
};

/// A rate per second over the latest windows, by Kafka's formula. A window begins with the first use after the window before it
/// ended, so there may be pauses between windows. The present window counts for as long as it has lasted; windows that never
/// began count as empty. So a quiet client may at once use what its quota allows in all windows but one.
class WindowedRate {
  public:
    explicit WindowedRate(QuotaWindows windows) : windows_(windows) {}

    /// A negative `value` takes back a record of something that did not happen.
    void record(double value, Instant now);
    [[nodiscard]] double per_second(Instant now);
    /// The time over which the rate is taken; at least 1 ms.
    [[nodiscard]] std::int64_t span_ms(Instant now);

  private:
    struct Window {
        double value = 0;
        Instant began;
        Instant last_used;
    };

    void forget_old(Instant now);

    QuotaWindows windows_;
    // One window more than counts, because the oldest one reaches into the measured time.
    std::vector<Window> used_;
    std::size_t current_ = 0;
};

/// The rates of all clients that have one kind of quota.
class ClientRates {
  public:
    /// Most clients whose rates are kept. A further one replaces the client that was quiet for longest.
    static constexpr std::size_t kClientsMax = 10'000;

    explicit ClientRates(QuotaWindows windows) : windows_(windows) {}

    /// Records a client's use. Returns the milliseconds until its rate is within its quota again; 0 if it is.
    [[nodiscard]] std::int64_t use(const QuotaInForce& quota, double value, Instant now);
    /// Takes back what `use` recorded, if it did not happen.
    void take_back(const QuotaInForce& quota, double value, Instant now);

    /// A client that uses more than this at once certainly must wait.
    [[nodiscard]] double most_at_once(const QuotaInForce& quota) const;

    [[nodiscard]] std::size_t client_count() const { return by_bucket_.size(); }

  private:
    struct Client {
        std::string bucket;
        WindowedRate rate;
    };
    // Ordered by last use, the latest first.
    using Clients = std::list<Client>;

    [[nodiscard]] WindowedRate& rate_of(std::string_view bucket);

    const QuotaWindows windows_;
    Clients clients_;
    // Keys are the clients' own buckets.
    std::unordered_map<std::string_view, Clients::iterator> by_bucket_;
};

}  // namespace partita::catalog
