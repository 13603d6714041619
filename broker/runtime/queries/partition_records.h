#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/types.h"
#include "storage/partition_log.h"

namespace partita::runtime {

/// One record, with memory of its own.
struct FoundRecord {
    Offset offset;
    TimestampMs timestamp;
    /// Unset: null.
    std::optional<std::string> key;
    std::optional<std::string> value;
    std::vector<std::pair<std::string, std::optional<std::string>>> headers;
};

/// Some records of a partition, ascending.
struct RecordPage {
    std::vector<FoundRecord> records;
    /// Where the next page begins: the end of the partition when there are no more.
    Offset next;
    Offset log_start;
    /// The end of what the page could have.
    Offset end;
    /// Records that were looked at, with those that have another key.
    std::size_t looked_at = 0;
    /// What could not be read and was left out: about which offset, and why.
    std::vector<std::pair<Offset, std::string>> damage;
};

/// How much a page holds at most.
struct PageLimits {
    std::size_t records = 100;
    /// Of keys, values and headers. The first record is given whatever its size.
    std::size_t bytes = 1 << 20;
    /// Set: only records with this key. Then a page also ends when so much of the log was looked through, before the next batch.
    std::optional<std::string> key = std::nullopt;
    std::size_t search_bytes = 64 << 20;
};

/// The records from the offset `from` on: data of all transactions, without their markers. Fails with `out_of_range` when the
/// partition does not have that offset any more, or not yet, and with `closed` when it was deleted. Reads the disk, so no reactor
/// may call it.
[[nodiscard]] std::expected<RecordPage, ReadFailure> read_records(const PartitionLog& log, Offset from, const PageLimits& limits);

}  // namespace partita::runtime
