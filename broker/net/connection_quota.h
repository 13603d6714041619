#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "broker/catalog/client_rates.h"
#include "broker/config/broker_config.h"
#include "broker/runtime/loop/network_statistics.h"
#include "protocol/mutex.h"
#include "protocol/types.h"

namespace partita::net {

/// Counts connections against `max.connections`, `max.connections.per.ip` and its overrides. Thread-safe.
class ConnectionQuota {
  public:
    /// `descriptors_for_connections` is the largest number of connections that still leaves file descriptors for log files.
    ConnectionQuota(std::shared_ptr<const config::BrokerConfig> config, std::size_t descriptors_for_connections);

    /// Applies the limits of `config` from now on. Connections beyond them stay open, as in Kafka.
    void follow(std::shared_ptr<const config::BrokerConfig> config);

    enum class Decision : std::uint8_t { accepted, too_many_from_address };
    /// Counts a connection from `address` (numeric), unless that address has too many.
    [[nodiscard]] Decision open(const std::string& address);
    void close(const std::string& address);
    /// Counts a new connection against `max.connection.creation.rate` (KIP-612). Returns the milliseconds for which the acceptor
    /// must not serve it and must accept no other; 0 within the rate.
    [[nodiscard]] std::int64_t arrive(Instant now);
    /// False while `max.connections` are open, or as many as there are descriptors for. The server then accepts nothing; Kafka's
    /// acceptor waits as well.
    [[nodiscard]] bool has_room() const;
    /// True if there is no room because the process may not open more files.
    [[nodiscard]] bool lacks_descriptors() const;
    [[nodiscard]] std::int32_t count() const;
    [[nodiscard]] runtime::ConnectionCounts counts() const;

  private:
    [[nodiscard]] std::int32_t limit_of(const std::string& address) const REQUIRES(mutex_);

    const std::int32_t max_by_descriptors_;
    mutable Mutex mutex_{LockRank::connection_quota};
    std::shared_ptr<const config::BrokerConfig> config_ GUARDED_BY(mutex_);
    catalog::ClientRates arrivals_ GUARDED_BY(mutex_);
    std::unordered_map<std::string, std::int32_t> per_address_ GUARDED_BY(mutex_);
    std::int32_t total_ GUARDED_BY(mutex_) = 0;
    std::uint64_t opened_ GUARDED_BY(mutex_) = 0;
};

}  // namespace partita::net
