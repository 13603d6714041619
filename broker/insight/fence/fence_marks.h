#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "protocol/types.h"

namespace partita::insight {

/// For the batches of one new partition: where its parent's log ended when each of them came.
///
/// A mark says: records from `first` up to the next mark wait for everything of the parent below `parent_end`. Both
/// numbers only grow from mark to mark. A batch that comes while the parent's end has not moved needs no mark of its
/// own.
class FenceMarks {
  public:
    /// Beyond this, neighbouring marks are joined in pairs: the records of the first then wait as long as those of the
    /// second. So they may wait for more than they must, never for less.
    static constexpr std::size_t kMarksMax = 4096;

    struct Mark {
        Offset first;
        Offset parent_end;
        friend bool operator==(const Mark&, const Mark&) = default;
    };

    /// The caller calls it before a batch gets its offset: `end` is at or below that offset, and `parent_end` is read
    /// at that moment. Neither may be below its value in the last call, unless `cover_unknown` was told of it since. True when
    /// something changed.
    bool add(Offset end, Offset parent_end);

    /// What a start finds of the two logs.
    struct Found {
        Offset start;
        Offset end;
        Offset parent_end;
    };
    /// Makes all records behind the last mark, of which nothing is known, wait for `parent_end`, where the parent's log ends;
    /// without marks, all records from `start` on. Nothing waits for more than that any more: what was there is lost. So are
    /// records at and behind `end`: marks of these hold what comes in their place, which waits for the parent as it is now.
    void cover_unknown(const Found& found);

    /// Offset of the first record that must wait for a reader that has processed everything of the parent below
    /// `drained`. Empty when no record has to wait.
    [[nodiscard]] std::optional<Offset> first_held(Offset drained) const;
    /// Records below `offset` wait for nothing of the parent at or above the result.
    [[nodiscard]] Offset boundary_at(Offset offset) const;

    /// Drops marks that cannot hold anybody any more: the parent has no records below `parent_start`, and the partition
    /// none below `start`.
    void forget(Offset start, Offset parent_start);

    [[nodiscard]] bool empty() const { return marks_.empty(); }
    [[nodiscard]] std::span<const Mark> marks() const { return marks_; }
    /// Takes marks that were stored. False when they do not grow or are too many: then the old marks stay.
    [[nodiscard]] bool restore(std::vector<Mark> marks);

  private:
    void thin();

    std::vector<Mark> marks_;
};

}  // namespace partita::insight
