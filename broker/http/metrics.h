#pragma once

#include <cstdint>
#include <string>

namespace partita::runtime {
class NetworkStatistics;
struct Services;
}  // namespace partita::runtime

namespace partita::http {

/// The state of the broker in Prometheus' text format (version 0.0.4), with Kafka's own metric names as its JMX exporter usually
/// spells them. It reads only counters and sizes, so it is cheap and holds no lock for long. `with_names`: also what each
/// principal did, by name.
[[nodiscard]] std::string metrics_text(const runtime::Services& services, const runtime::NetworkStatistics& network,
                                       bool with_names);

/// How much memory of the broker is resident, according to the kernel; 0 if the kernel does not tell.
[[nodiscard]] std::uint64_t resident_bytes();

}  // namespace partita::http
