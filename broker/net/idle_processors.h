#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "protocol/types.h"

namespace partita::net {

/// How much of the machine's processors nobody used of late, from /proc/uptime. One reactor's.
class IdleProcessors {
  public:
    /// /proc/uptime counts in hundredths of a second: over a shorter time it says nothing.
    static constexpr std::int64_t kLeastMs = 100;
    /// A reading from before this is another story.
    static constexpr std::int64_t kMostMs = 500;
    /// What is said of a machine that does not tell: one whole processor.
    static constexpr std::int32_t kUnknownPermille = 1000;

    IdleProcessors() = default;
    ~IdleProcessors();
    IdleProcessors(const IdleProcessors&) = delete;
    IdleProcessors& operator=(const IdleProcessors&) = delete;

    /// Idle time of all processors since the last reading, in thousandths of one. Empty for the first reading in a while, and
    /// when the last one is so near that it stays.
    [[nodiscard]] std::optional<std::int32_t> read(Instant now);

    /// The second number of /proc/uptime in milliseconds: the idle time of all processors. Empty for anything else.
    [[nodiscard]] static std::optional<std::int64_t> parse_idle_ms(std::string_view uptime);

  private:
    int file_ = -1;
    std::int64_t last_idle_ms_ = 0;
    std::optional<Instant> last_;
};

}  // namespace partita::net
