#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/types.h"

namespace partita::insight {

/// The offsets, in one partition, of records whose keys a growth moves: one bit for each offset of a range. Pure.
class MovedRecords {
  public:
    /// Most offsets of a range. The bits of a longer range would take more than 4 MiB; its newest offsets have bits.
    static constexpr std::int64_t kOffsetsMax = std::int64_t{32} << 20;

    MovedRecords() = default;
    /// `offsets_max`: at most `kOffsetsMax`.
    MovedRecords(Offset from, Offset to, std::int64_t offsets_max = kOffsetsMax);

    /// The record at this offset moves. Offsets out of the range count for nothing.
    void add(Offset offset);
    /// Number of records that move, from this offset on.
    [[nodiscard]] std::int64_t count_from(Offset offset) const;
    /// False: the range has more offsets than fit, and counts from before the first bit are too low.
    [[nodiscard]] bool has_all() const { return has_all_; }

  private:
    static constexpr std::int64_t kBlockBits = 4096;

    Offset from_{0};
    Offset to_{0};
    bool has_all_ = true;
    std::vector<std::uint64_t> bits_;
    /// How many bits are set in each block of `kBlockBits`.
    std::vector<std::int32_t> blocks_;
};

}  // namespace partita::insight
