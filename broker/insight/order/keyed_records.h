#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/function_ref.h"
#include "protocol/types.h"

namespace partita::insight {

/// The keyed records of one topic, as a reader of committed records gets them: without markers, aborted records and records that
/// may still be aborted. A caller makes one object for one look, with one budget.
class KeyedRecords {
  public:
    /// `time`: the record's timestamp; kNoTimestamp if it has none.
    using Visit = FunctionRef<void(Offset offset, Bytes key, TimestampMs time)>;

    virtual ~KeyedRecords() = default;
    /// Visits the records with keys in `[from, to)` of the partition, ascending. Returns where it stopped: at `to`, where the
    /// first record lies that is not decided yet, or where the budget was used up. Records that do not exist any more are left
    /// out.
    [[nodiscard]] virtual Offset read(PartitionIndex partition, Offset from, Offset to, Visit visit) = 0;
    /// The offset behind the last record of an answer with `bytes` bytes, to a reader that asked for `from`; null if these
    /// records do not exist any more.
    [[nodiscard]] virtual std::optional<Offset> end_of_answer(PartitionIndex partition, Offset from, std::uint32_t bytes) = 0;
    /// The key of the record; null if it has none, or does not exist any more. Beyond the budget, too.
    [[nodiscard]] virtual std::optional<std::string> key_at(PartitionIndex partition, Offset offset) = 0;
    /// False: the budget is used up, and the caller comes back with another object.
    [[nodiscard]] virtual bool has_budget() const = 0;
    /// False: something could not be read and was left out.
    [[nodiscard]] virtual bool is_complete() const = 0;
};

}  // namespace partita::insight
