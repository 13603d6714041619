#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "protocol/types.h"

namespace partita::net {

/// Measures how much of the machine's processors was idle since the last reading, from /proc/uptime. Each reactor has its own;
/// only the reactor's thread calls it.
class IdleProcessors {
  public:
    /// The shortest time between two readings. /proc/uptime counts hundredths of a second and says nothing about a shorter time.
    static constexpr std::int64_t kLeastMs = 100;
    /// The longest time between two readings: too much may have happened since an older one.
    static constexpr std::int64_t kMostMs = 500;
    /// The answer when /proc/uptime cannot be read: one whole processor.
    static constexpr std::int32_t kUnknownPermille = 1000;

    IdleProcessors() = default;
    ~IdleProcessors();
    IdleProcessors(const IdleProcessors&) = delete;
    IdleProcessors& operator=(const IdleProcessors&) = delete;

    /// How much was idle since the last reading, all processors together, in thousandths of one processor. Empty when the last
    /// reading is less than `kLeastMs` old (it stays the last one), and when there is none younger than `kMostMs`.
    [[nodiscard]] std::optional<std::int32_t> read(Instant now);

    /// The second number of /proc/uptime in milliseconds: the idle time of all processors. Empty for anything else.
    [[nodiscard]] static std::optional<std::int64_t> parse_idle_ms(std::string_view uptime);

  private:
    int file_ = -1;
    std::int64_t last_idle_ms_ = 0;
    std::optional<Instant> last_;
};

}  // namespace partita::net
