#pragma once

#include <string>

namespace partita::runtime {
class NetworkStatistics;
struct Services;
}  // namespace partita::runtime

namespace partita::http {

/// The state of the broker in Prometheus' text format (version 0.0.4), with Kafka's own metric names as
/// its JMX exporter usually spells them. Looks only at counters and sizes: cheap, takes no long lock.
[[nodiscard]] std::string metrics_text(runtime::Services& services, const runtime::NetworkStatistics& network);

}  // namespace partita::http
