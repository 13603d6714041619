#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/types.h"

/// How many records lie between two offsets. There may be fewer records than offsets. Transaction markers, aborted records and
/// records that log cleaning removed have offsets too, and no reader gets them.
namespace partita::insight {

struct RecordCount {
    std::int64_t records = 0;
    /// False: `count` is an upper bound.
    bool is_exact = true;

    RecordCount& operator+=(const RecordCount& other) {
        records += other.records;
        is_exact = is_exact && other.is_exact;
        return *this;
    }
    friend bool operator==(const RecordCount&, const RecordCount&) = default;
};

/// "1 record", "7 records"; "up to 7 records" if the count is not exact.
[[nodiscard]] std::string counted(const RecordCount& count, std::string_view singular);
/// For phrases in which more than the noun changes.
[[nodiscard]] std::string counted(const RecordCount& count, std::string_view one, std::string_view many);

/// Counts the records of one topic.
class RecordCounter {
  public:
    virtual ~RecordCounter() = default;
    /// Number of records in `[from, to)` of the partition that a reader of committed records was given, or can be given.
    [[nodiscard]] virtual RecordCount between(PartitionIndex partition, Offset from, Offset to) = 0;
};

}  // namespace partita::insight
