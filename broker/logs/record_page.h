#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "broker/logs/outcome.h"
#include "broker/logs/partition.h"
#include "protocol/types.h"

namespace partita::logs {

/// One record that owns its memory.
struct FoundRecord {
    Offset offset;
    TimestampMs timestamp;
    /// Unset means null.
    std::optional<std::string> key;
    std::optional<std::string> value;
    std::vector<std::pair<std::string, std::optional<std::string>>> headers;
};

/// The start of a partition, as the place where a page begins.
struct PartitionStart {
    friend bool operator==(PartitionStart, PartitionStart) = default;
};
/// Where a page begins: at the start of the partition, at an offset, or at the first record that is not older than a time.
/// Without such a record the page begins at the end.
using PageStart = std::variant<PartitionStart, Offset, TimestampMs>;

/// Some records of a partition, ascending, for people.
struct RecordPage {
    std::vector<FoundRecord> records;
    /// Where the page begins.
    Offset from;
    /// Where the next page begins. At the last page this is the end of the partition.
    Offset next;
    Offset log_start;
    /// The partition's end when the page was read. The page holds no records from there on.
    Offset end;
    /// How many records the search examined, including those whose key does not match.
    std::size_t looked_at = 0;
    /// Unreadable data that the search left out: the approximate offset and the reason.
    std::vector<std::pair<Offset, std::string>> damage;
};

/// The limits of a page.
struct PageLimits {
    std::size_t records = 100;
    /// The limit on keys, values and headers together. The first record is returned whatever its size.
    std::size_t bytes = 1 << 20;
    /// If set, the page holds only records with this key. The page then also ends after `search_bytes` of the log, at the next
    /// batch.
    std::optional<std::string> key = std::nullopt;
    std::size_t search_bytes = 64 << 20;
};

/// Reads the records from `start` on: data of all transactions, without transaction markers. Fails with `offset_out_of_range` if
/// the partition no longer has that offset, or does not have it yet; with `unknown_partition` if the partition was deleted; with
/// `storage_failed` if the disk fails, or if the partition was deleted before the search for a time. The page leaves out what is
/// unreadable. Reads the disk, so reactors must not call it.
[[nodiscard]] std::expected<RecordPage, Failure> read_page(const Partition& partition, const PageStart& start,
                                                           const PageLimits& limits);

}  // namespace partita::logs
