#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "broker/topics/client_quotas.h"
#include "protocol/types.h"

/// What clients use per second, held against their quotas (KIP-13, KIP-124, KIP-219, KIP-612): bytes produced, bytes
/// fetched, share of a request thread, connections made.
namespace partita::topics {

struct QuotaWindows {
    std::int32_t count = 11;
    std::int64_t size_ms = 1000;
};

/// A rate per second over the windows of the last while, by Kafka's formula: a window begins with the first use after the
/// one before it ended, so there may be pauses between windows; the present one counts for as long as it lasted, and
/// windows that never were count as empty ones. A client that was quiet may therefore use in one moment what its quota
/// allows it in all windows but one.
class WindowedRate {
  public:
    explicit WindowedRate(QuotaWindows windows) : windows_(windows) {}

    /// `value` may be negative: that takes back what was recorded and did not happen.
    void record(double value, Instant now);
    [[nodiscard]] double per_second(Instant now);
    /// The time that the rate is taken over. At least a millisecond.
    [[nodiscard]] std::int64_t span_ms(Instant now);

  private:
    struct Window {
        double value = 0;
        Instant began;
        Instant last_used;
    };

    void forget_old(Instant now);

    QuotaWindows windows_;
    // One more than are counted: the oldest reaches into the time that is looked at.
    std::vector<Window> used_;
    std::size_t current_ = 0;
};

/// The rates of all clients that have one kind of quota.
class ClientRates {
  public:
    /// Clients whose rates are kept. Beyond them the one is forgotten that was quiet for longest.
    static constexpr std::size_t kClientsMax = 10'000;

    explicit ClientRates(QuotaWindows windows) : windows_(windows) {}

    /// Adds to what a client used. How long it has to wait until its rate is its quota again; 0 when it is not above.
    [[nodiscard]] std::int64_t use(const QuotaInForce& quota, double value, Instant now);
    /// Takes back what did not happen after all.
    void take_back(const QuotaInForce& quota, double value, Instant now);

    /// The most that a client can use at once without having to wait for certain.
    [[nodiscard]] double most_at_once(const QuotaInForce& quota) const;

    [[nodiscard]] std::size_t client_count() const { return by_bucket_.size(); }

  private:
    struct Client {
        std::string bucket;
        WindowedRate rate;
    };
    // The one that used something last comes first.
    using Clients = std::list<Client>;

    [[nodiscard]] WindowedRate& rate_of(std::string_view bucket);

    const QuotaWindows windows_;
    Clients clients_;
    // Keys are the clients' own buckets.
    std::unordered_map<std::string_view, Clients::iterator> by_bucket_;
};

}  // namespace partita::topics
