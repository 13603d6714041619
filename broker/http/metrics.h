#pragma once

#include <string>

namespace partita::runtime {
class NetworkStatistics;
struct Services;
}  // namespace partita::runtime

namespace partita::http {

/// The state of the broker in Prometheus' text format (version 0.0.4), with Kafka's own metric names as its JMX exporter usually
/// spells them. It looks only at counters and sizes, so it is cheap and holds no lock for long.
[[nodiscard]] std::string metrics_text(runtime::Services& services, const runtime::NetworkStatistics& network);

}  // namespace partita::http
