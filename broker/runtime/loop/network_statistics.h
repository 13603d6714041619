#pragma once

#include <cstdint>

namespace partita::runtime {

/// Connections since the start.
struct ConnectionCounts {
    std::uint64_t opened = 0;
    std::uint64_t closed = 0;
};

/// Counters of the Kafka listeners, for metrics. Any thread may call these.
class NetworkStatistics {
  public:
    virtual ~NetworkStatistics() = default;
    [[nodiscard]] virtual ConnectionCounts connections() const = 0;
    [[nodiscard]] virtual std::int32_t connection_count() const = 0;
    [[nodiscard]] virtual std::uint64_t received_bytes() const = 0;
    [[nodiscard]] virtual std::uint64_t sent_bytes() const = 0;
};

}  // namespace partita::runtime
