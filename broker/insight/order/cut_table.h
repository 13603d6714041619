#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/types.h"

namespace partita::insight {

/// Two records of one key in two partitions: `earlier` in `from` was written before `later` in `to`. A reader sees them in order
/// exactly if it gets `earlier` before `later`.
struct KeyCut {
    std::uint64_t key_hash = 0;
    PartitionIndex from;
    PartitionIndex to;
    Offset earlier;
    Offset later;

    friend bool operator==(const KeyCut&, const KeyCut&) = default;
};

/// Cuts in the order in which they were found, and by where their records lie. Pure; one caller at a time.
class CutTable {
  public:
    static constexpr std::size_t kCutsMax = 1'000'000;

    /// False: there is no room.
    [[nodiscard]] bool add(const KeyCut& cut);

    /// All cuts, in the order in which they were found. A cut keeps its index for ever.
    [[nodiscard]] std::span<const KeyCut> cuts() const { return cuts_; }
    /// The indexes of the cuts with `later` in the partition, by ascending offset. Sorts those that came since the last call.
    [[nodiscard]] std::span<const std::uint32_t> cuts_into(PartitionIndex partition) const;
    /// The indexes of the cuts with `earlier` in the partition, likewise.
    [[nodiscard]] std::span<const std::uint32_t> cuts_from(PartitionIndex partition) const;

  private:
    /// The cuts of one partition; the first `sorted` of them are in order.
    struct Places {
        std::vector<std::uint32_t> cuts;
        std::size_t sorted = 0;
    };
    static void add_to(std::vector<Places>& all, PartitionIndex partition, std::uint32_t index);
    [[nodiscard]] std::span<const std::uint32_t> sorted(std::vector<Places>& all, PartitionIndex partition,
                                                        Offset KeyCut::* offset) const;

    std::vector<KeyCut> cuts_;
    /// By partition.
    mutable std::vector<Places> into_;
    mutable std::vector<Places> from_;
};

}  // namespace partita::insight
