#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/index_file.h"

namespace partita {

struct TimestampOffset {
    TimestampMs timestamp = kNoTimestamp;
    /// Last offset of the batch in which the timestamp was first reached.
    Offset offset = kNoOffset;
    friend bool operator==(const TimestampOffset&, const TimestampOffset&) = default;
};

/// Kafka's `.timeindex`: 12-byte entries, timestamp (int64) and offset relative to the segment's base (int32), big-endian. An
/// entry (t, o) means that no record before o has a timestamp above t. So both columns ascend, whatever the order of the records'
/// own timestamps. Threads as in IndexFile.
class TimeIndex {
  public:
    static constexpr std::size_t kEntryBytes = 12;

    TimeIndex(OpenFiles& open_files, std::string path, Offset base_offset);

    /// Reads the last entry back after `IndexFile::load` or a truncation.
    [[nodiscard]] StorageResult<void> reload_last();
    /// Appends the entry if its timestamp is greater than that of the last one.
    void maybe_append(TimestampOffset entry);
    /// The last entry with a timestamp at or below `target`; empty if no entry qualifies.
    [[nodiscard]] StorageResult<std::optional<TimestampOffset>> lookup(TimestampMs target) const;
    /// The last entry, or {kNoTimestamp, kNoOffset}. For the appender only.
    [[nodiscard]] TimestampOffset last() const { return last_; }
    [[nodiscard]] StorageResult<TimestampOffset> entry(std::size_t index) const;

    /// Number of leading entries that ascend and name offsets below `end`. A Kafka that was killed leaves zeros behind them.
    [[nodiscard]] StorageResult<std::size_t> plausible_entries(Offset end) const;

    [[nodiscard]] IndexFile& file() { return file_; }
    [[nodiscard]] const IndexFile& file() const { return file_; }

  private:
    [[nodiscard]] TimestampOffset decode(const std::byte* entry) const;

    IndexFile file_;
    const Offset base_offset_;
    TimestampOffset last_;
};

}  // namespace partita
