#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "protocol/types.h"

namespace partita::insight {

/// The marks of one new partition: where its parent's log ended when each batch came.
///
/// A mark says: records from `first` up to the next mark wait for everything of the parent below `parent_end`. Both numbers
/// only grow from mark to mark. A batch that comes while the parent's end has not moved needs no mark of its own.
class FenceMarks {
  public:
    /// Beyond this, the class joins neighbouring marks in pairs: the records of the first then wait as long as those of the
    /// second. So they may wait for more than they must, never for less.
    static constexpr std::size_t kMarksMax = 4096;

    struct Mark {
        Offset first;
        Offset parent_end;
        friend bool operator==(const Mark&, const Mark&) = default;
    };

    /// The caller calls it before a batch gets its offset: `end` is at or below that offset, and `parent_end` is read at that
    /// moment. Neither may be below its value in the last call, unless the caller has called `cover_unknown` since. True if
    /// something changed.
    bool add(Offset end, Offset parent_end);

    /// The state of the two logs as a start finds it.
    struct Found {
        Offset start;
        Offset end;
        Offset parent_end;
    };
    /// Adapts the marks to the logs after a crash that lost marks, records, or both:
    /// - Records behind the last mark wait for the whole parent, up to `parent_end`, because their own marks are lost. Without
    ///   any mark, all records from `start` on do.
    /// - No record waits for parent records at or behind `parent_end`: these are lost.
    /// - Records at or behind `end` are lost. Those that will replace them wait for the whole parent.
    void cover_unknown(const Found& found);

    /// Offset of the first record that must wait for a reader that has processed everything of the parent below
    /// `drained`. Empty when no record has to wait.
    [[nodiscard]] std::optional<Offset> first_held(Offset drained) const;
    /// Records below `offset` do not wait for any parent record at or above the result.
    [[nodiscard]] Offset boundary_at(Offset offset) const;

    /// Drops marks that cannot hold any reader any more: the parent has no records below `parent_start`, and the partition none
    /// below `start`.
    void forget(Offset start, Offset parent_start);

    [[nodiscard]] bool empty() const { return marks_.empty(); }
    [[nodiscard]] std::span<const Mark> marks() const { return marks_; }
    /// Takes marks that were stored. False if they do not grow or are too many: then the old marks stay.
    [[nodiscard]] bool restore(std::vector<Mark> marks);

  private:
    void thin();

    std::vector<Mark> marks_;
};

}  // namespace partita::insight
