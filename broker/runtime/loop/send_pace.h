#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "protocol/types.h"

namespace partita::runtime {

/// The pace at which bytes leave: so many in a second, in small pieces. Time comes in as a value.
class SendPace {
  public:
    static constexpr std::int64_t kBytesPerSMax = 1'000'000'000;
    /// A piece has the bytes of this time, at least one.
    static constexpr std::int64_t kPieceMs = 20;
    /// A sender that comes late catches up with the bytes of this time. This is more than a turn of a reactor usually lasts.
    static constexpr std::int64_t kLateMsMax = 200;

    /// `bytes_per_s`: 1 to kBytesPerSMax.
    explicit SendPace(std::int64_t bytes_per_s) : bytes_per_s_(bytes_per_s) {}

    /// The bytes that may leave at `now`. The first call starts the clock, and answers 0.
    [[nodiscard]] std::size_t allowed(Instant now) {
        const std::int64_t most = parts_in(kLateMsMax);
        // Few steps fill the store, whatever time has passed, so that the product stays small.
        const std::int64_t passed_ms = std::min(now - last_.value_or(now), most / bytes_per_s_ + 1);
        last_ = now;
        parts_ = std::min(parts_ + passed_ms * bytes_per_s_, most);
        return static_cast<std::size_t>(parts_ / kPartsInByte);
    }
    /// `bytes` left. They were allowed.
    void sent(std::size_t bytes) { parts_ -= static_cast<std::int64_t>(bytes) * kPartsInByte; }
    /// When the next piece may leave, after `allowed(now)`. Later than `now`.
    [[nodiscard]] Instant next(Instant now) const {
        const std::int64_t missing = parts_in(kPieceMs) - parts_;
        return now + std::max<std::int64_t>((missing + bytes_per_s_ - 1) / bytes_per_s_, 1);
    }

  private:
    /// A byte a second is one part of a byte each millisecond.
    static constexpr std::int64_t kPartsInByte = 1000;
    [[nodiscard]] std::int64_t parts_in(std::int64_t ms) const { return std::max(bytes_per_s_ * ms, kPartsInByte); }

    std::int64_t bytes_per_s_;
    std::optional<Instant> last_;
    std::int64_t parts_ = 0;
};

}  // namespace partita::runtime
