#pragma once

#include <cstdint>

/// The odds that placements which look chosen came about by chance. Nothing is called chosen while chance could have
/// made it.
namespace partita::insight {

/// Chance counts as an explanation only when it is at least this likely.
inline constexpr double kPlacementChanceMax = 1e-9;

/// A client that sends records without regard to keys stays with one partition for a while: the Java client for at most
/// twice `batch.size` (KIP-794), others for less. Brokers refuse batches beyond 1 MiB by default, so after this many
/// bytes such a client has drawn a new partition.
inline constexpr std::int64_t kStickyBytesMax = std::int64_t{2} << 20;

/// True when a producer that draws one of `partition_count` partitions every `kStickyBytesMax` bytes, or more often,
/// would not have sent `bytes` to one partition by chance. The probability is partition_count ^ -(bytes /
/// kStickyBytesMax - 1).
[[nodiscard]] bool is_stay_beyond_chance(std::int64_t bytes, std::int32_t partition_count);

/// True when a producer that ignores keys would not have sent known keys to their old partitions `returns` times by
/// chance, when each draw hits that partition with probability `share` at most. The probability is share ^ returns.
[[nodiscard]] bool are_returns_beyond_chance(std::int64_t returns, double share);

}  // namespace partita::insight
