#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "broker/share/record_state.h"
#include "protocol/types.h"

namespace partita::share {

/// The id of a member; all its records share the text. Null: nobody has the record.
using MemberName = std::shared_ptr<const std::string>;

/// Consecutive records of one in-flight batch that are in every way alike.
struct InFlightRun {
    Offset first;
    /// Inclusive.
    Offset last;
    RecordState state = RecordState::available;
    std::int16_t delivery_count = 0;
    /// Set while acquired.
    MemberName member;
    /// The end of the lock, while acquired.
    Instant locked_until;

    [[nodiscard]] std::int64_t size() const { return last - first + 1; }
    [[nodiscard]] bool is_of(std::string_view id) const { return member != nullptr && *member == id; }
    /// True if both differ only in their offsets.
    [[nodiscard]] bool is_like(const InFlightRun& other) const {
        return state == other.state && delivery_count == other.delivery_count && member == other.member &&
               (state != RecordState::acquired || locked_until == other.locked_until);
    }
};

/// Records that were delivered together at first, from the share partition's point of view. A batch is whole as long as one event
/// concerned all its records; afterwards its records are told apart (Kafka's "offset state"), which it never takes back.
///
/// Memory grows with the differences between its records and not with their number.
class InFlightBatch {
  public:
    explicit InFlightBatch(InFlightRun whole) : runs_{std::move(whole)} {}

    [[nodiscard]] Offset first() const { return runs_.front().first; }
    /// Inclusive.
    [[nodiscard]] Offset last() const { return runs_.back().last; }
    [[nodiscard]] std::int64_t size() const { return last() - first() + 1; }
    [[nodiscard]] bool is_split() const { return is_split_; }
    /// From now on the records are told apart.
    void split() { is_split_ = true; }

    /// The state of all records of a batch that is not split.
    [[nodiscard]] const InFlightRun& whole() const { return runs_.front(); }
    [[nodiscard]] InFlightRun& whole() { return runs_.front(); }
    /// Ascending, without gaps. One run if the batch is not split.
    [[nodiscard]] const std::vector<InFlightRun>& runs() const { return runs_; }

    /// Calls `change(run)` for each run within [from, until], which is cut at both ends first. `change` may change everything but
    /// the run's offsets; it returns false to end. Then joins neighbours that became alike. Returns false if `change` ended it.
    template <class Change>
    bool change_each(Offset from, Offset until, Change&& change);
    /// The same for one part, which must lie within one run.
    template <class Change>
    void change_part(Offset from, Offset until, Change&& change) {
        change_each(from, until, [&](InFlightRun& run) {
            change(run);
            return true;
        });
    }

    /// Puts back runs that `runs` gave earlier.
    void restore(std::vector<InFlightRun> runs) { runs_ = std::move(runs); }

  private:
    /// Makes a run begin at `offset`, if it lies within the batch. Returns the index of that run.
    std::size_t cut(Offset offset);
    void join_alike();

    std::vector<InFlightRun> runs_;
    bool is_split_ = false;
};

template <class Change>
bool InFlightBatch::change_each(Offset from, Offset until, Change&& change) {
    if (until < first() || from > last()) {
        return true;
    }
    const std::size_t begin = from <= first() ? 0 : cut(from);
    const std::size_t end = until >= last() ? runs_.size() : cut(until + 1);
    bool goes_on = true;
    for (std::size_t i = begin; i < end && goes_on; ++i) {
        goes_on = change(runs_[i]);
    }
    join_alike();
    return goes_on;
}

}  // namespace partita::share
