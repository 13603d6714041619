#pragma once

#include <cstdint>

/// The odds that seemingly chosen placements came about by chance. A placement counts as chosen only if chance cannot explain it.
namespace partita::insight {

/// Chance counts as an explanation only if it is at least this likely.
inline constexpr double kPlacementChanceMax = 1e-9;

/// A client that sends records without regard to keys stays with one partition for a while: the Java client for at most twice
/// `batch.size` (KIP-794), others for less. Brokers refuse batches beyond 1 MiB by default. So after this many bytes such a
/// client has drawn a new partition.
inline constexpr std::int64_t kStickyBytesMax = std::int64_t{2} << 20;

/// True if chance cannot explain that `bytes` went to one partition. A producer by chance would draw one of `partition_count`
/// partitions every `kStickyBytesMax` bytes, or more often. The probability is partition_count ^ -(bytes / kStickyBytesMax - 1).
[[nodiscard]] bool is_stay_beyond_chance(std::int64_t bytes, std::int32_t partition_count);

/// True if chance cannot explain that a producer sent known keys to their old partitions `returns` times. A producer that ignores
/// keys hits that partition with probability `share` at most in each draw. The probability is share ^ returns.
[[nodiscard]] bool are_returns_beyond_chance(std::int64_t returns, double share);

}  // namespace partita::insight
