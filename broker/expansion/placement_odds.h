#pragma once

#include <cstdint>

/// Odds against placements that look as if somebody chose them. Nothing is called chosen while chance could have made it.
namespace partita::expansion {

/// What chance may explain once in a billion times is not explained by chance.
inline constexpr double kPlacementChanceMax = 1e-9;

/// Clients that send records without regard to keys stay with one partition for a while: the Java client for at most twice
/// `batch.size` (KIP-794), others shorter. A batch beyond 1 MiB is refused by default, so after this many bytes a partition
/// was drawn anew.
inline constexpr std::int64_t kStickyBytesMax = std::int64_t{2} << 20;

/// True when a producer that draws one of `partition_count` partitions every `kStickyBytesMax` bytes, or more often, would not
/// have stayed in one partition for `bytes`. The chance that it would is partition_count ^ -(bytes / kStickyBytesMax - 1).
[[nodiscard]] bool is_stay_beyond_chance(std::int64_t bytes, std::int32_t partition_count);

/// True when a producer that ignores keys would not have met a key in its old partition `returns` times, of draws that hit it
/// with probability `share` at most. The chance that it would is share ^ returns.
[[nodiscard]] bool are_returns_beyond_chance(std::int64_t returns, double share);

}  // namespace partita::expansion
