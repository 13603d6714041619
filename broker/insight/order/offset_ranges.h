#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/types.h"

namespace partita::insight {

/// A set of offsets as ranges that do not touch. Pure and bounded: with more than `kRangesMax` ranges, the two with the least
/// distance become one, and the set is no longer exact.
class OffsetRanges {
  public:
    static constexpr std::size_t kRangesMax = 1024;

    /// Adds `[from, to)`, and returns the parts of it that were not in the set before, ascending.
    std::vector<std::pair<Offset, Offset>> add(Offset from, Offset to);
    /// Removes every offset from `from` on.
    void cut(Offset from);
    [[nodiscard]] bool contains(Offset offset) const;
    /// True if all of `[from, to)` is in the set.
    [[nodiscard]] bool contains(Offset from, Offset to) const;
    /// Behind the last offset; null for an empty set.
    [[nodiscard]] std::optional<Offset> end() const;
    /// False: the set may contain offsets that were never added.
    [[nodiscard]] bool is_exact() const { return is_exact_; }
    [[nodiscard]] std::size_t size() const { return ranges_.size(); }

  private:
    /// From the first offset of a range to the one behind its last.
    std::map<Offset, Offset> ranges_;
    bool is_exact_ = true;
};

}  // namespace partita::insight
