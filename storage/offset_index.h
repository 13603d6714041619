#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/index_file.h"

namespace partita {

struct OffsetPosition {
    /// Last offset of the batch that starts at `position`.
    Offset offset;
    std::uint32_t position = 0;
    friend bool operator==(const OffsetPosition&, const OffsetPosition&) = default;
};

/// Kafka's `.index`: 8-byte entries with offset relative to the segment's base (int32) and position in the segment (int32). Both
/// are big-endian and strictly ascending. Sparse: not every batch has an entry. An entry has the last offset of the batch at its
/// position, so a search for an offset starts at the greatest entry at or below it. Threads as in IndexFile.
class OffsetIndex {
  public:
    static constexpr std::size_t kEntryBytes = 8;

    OffsetIndex(OpenFiles& open_files, std::string path, Offset base_offset);

    /// `offset` must be greater than that of the last entry and within 2^31-1 of the base.
    void append(Offset offset, std::uint32_t position);
    /// The greatest entry at or below `target`; {base offset, 0} if no entry qualifies.
    [[nodiscard]] StorageResult<OffsetPosition> lookup(Offset target) const;
    [[nodiscard]] StorageResult<std::optional<OffsetPosition>> last_entry() const;
    [[nodiscard]] StorageResult<OffsetPosition> entry(std::size_t index) const;

    /// Number of entries at or below `target`.
    [[nodiscard]] StorageResult<std::size_t> count_up_to(Offset target) const;

    /// Number of leading entries that are plausible for a segment of `segment_bytes`: ascending,
    /// within the segment, not zero (a Kafka that was killed leaves zeros behind the last entry).
    [[nodiscard]] StorageResult<std::size_t> plausible_entries(std::uint64_t segment_bytes) const;

    [[nodiscard]] IndexFile& file() { return file_; }
    [[nodiscard]] const IndexFile& file() const { return file_; }

  private:
    [[nodiscard]] OffsetPosition decode(const std::byte* entry) const;

    IndexFile file_;
    const Offset base_offset_;
};

}  // namespace partita
