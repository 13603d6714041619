#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "protocol/types.h"

namespace partita::expansion {

/// For the batches of one new partition: how far its parent had grown when they came.
///
/// A mark says: records at `first` and above, up to the next mark, wait for everything of the parent below
/// `parent_end`. Both numbers only grow from mark to mark. A batch that comes while the parent stands still
/// needs no mark of its own.
class FenceMarks {
  public:
    /// Beyond it, marks are joined by two: the records of the first then wait as long as those of the second. They
    /// may wait for more than they must, never for less.
    static constexpr std::size_t kMarksMax = 4096;

    struct Mark {
        Offset first;
        Offset parent_end;
        friend bool operator==(const Mark&, const Mark&) = default;
    };

    /// To be called before a batch gets its offset: `end` is at or below that offset, and the parent's end is
    /// read now. Both must be at or above those of the last call. True when something changed.
    bool add(Offset end, Offset parent_end);

    /// Nothing is known of batches behind the last mark: all that is there waits for `parent_end`.
    void cover_unknown(Offset start, Offset parent_end);

    /// Offset of the first record that must wait for a reader that has done everything of the parent below
    /// `drained`. Empty when there is none.
    [[nodiscard]] std::optional<Offset> first_held(Offset drained) const;
    /// Everything of the parent that the records below `offset` wait for is below the result.
    [[nodiscard]] Offset boundary_at(Offset offset) const;

    /// Drops what cannot hold anybody any more: the parent's records below `parent_start` are gone, and so are
    /// the partition's own below `start`.
    void forget(Offset start, Offset parent_start);

    [[nodiscard]] bool empty() const { return marks_.empty(); }
    [[nodiscard]] std::span<const Mark> marks() const { return marks_; }
    /// For marks that were stored. False when they do not grow or are too many: then nothing is taken.
    [[nodiscard]] bool restore(std::vector<Mark> marks);

  private:
    void thin();

    std::vector<Mark> marks_;
};

}  // namespace partita::expansion
