#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "protocol/file_descriptor.h"
#include "protocol/types.h"

namespace partita::net {

/// Measures the idle time of the machine's processors since the last reading, from /proc/uptime. Each reactor has its own
/// instance; only the reactor's thread calls it.
class IdleProcessors {
  public:
    /// The shortest time between two readings. /proc/uptime counts hundredths of a second, too coarse for a shorter time.
    static constexpr std::int64_t kLeastMs = 100;
    /// The longest time between two readings: after that, the older reading says too little about the present.
    static constexpr std::int64_t kMostMs = 500;
    /// The answer if /proc/uptime cannot be read: one whole processor.
    static constexpr std::int32_t kUnknownPermille = 1000;

    /// The idle time since the last reading, of all processors together, in thousandths of one processor. Empty if the last
    /// reading is less than `kLeastMs` old; it then stays the last one. Empty as well if there is no reading younger than
    /// `kMostMs`.
    [[nodiscard]] std::optional<std::int32_t> read(Instant now);

    /// The second number of /proc/uptime in milliseconds: the idle time of all processors. Empty for anything else.
    [[nodiscard]] static std::optional<std::int64_t> parse_idle_ms(std::string_view uptime);

  private:
    FileDescriptor file_;
    std::int64_t last_idle_ms_ = 0;
    std::optional<Instant> last_;
};

}  // namespace partita::net
