#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/types.h"
#include "storage/partition_log.h"

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

/// Some records of a partition, ascending.
struct RecordPage {
    std::vector<FoundRecord> records;
    /// Where the next page begins. At the last page this is the end of the partition.
    Offset next;
    Offset log_start;
    /// The partition's end when the page was read. The page holds no records from there on.
    Offset end;
    /// How many records the search examined, including those with another key.
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

/// Reads the records from the offset `from` on: data of all transactions, without transaction markers. Fails with `out_of_range`
/// if the partition no longer has that offset, or does not have it yet. Fails with `closed` if the partition was deleted. Reads
/// the disk, so reactors must not call it.
[[nodiscard]] std::expected<RecordPage, ReadFailure> read_records(const PartitionLog& log, Offset from, const PageLimits& limits);

}  // namespace partita::logs
