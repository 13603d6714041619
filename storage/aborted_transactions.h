#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/index_file.h"
#include "storage/producer_state.h"

namespace partita {

/// One entry of Kafka's `.txnindex`: version int16 = 0, then producer id, first offset, last offset (of the marker) and
/// the last stable offset behind the marker, int64 each; 34 bytes. The entry lies in the index of the segment that holds
/// the marker.
struct AbortedTransaction {
    static constexpr std::size_t kEncodedBytes = 34;

    ProducerId producer_id;
    Offset first_offset;
    Offset last_offset;
    /// The log had no undecided record below this offset when the marker was written, so no later entry begins below it.
    Offset last_stable_offset;

    void encode(std::byte* to) const;
    [[nodiscard]] static std::optional<AbortedTransaction> decode(Bytes bytes);
    friend bool operator==(const AbortedTransaction&, const AbortedTransaction&) = default;
};

/// The aborted transactions whose markers one segment holds, ascending by last offset. The entries stay in the file, and lookups
/// read them there. Memory holds only entries that are not written yet: at most `AbortedIndex::kPendingMax`, as long as the disk
/// accepts writes.
///
/// Unlike the other indexes this one is no cache: without an entry, readers of committed records would see records of an aborted
/// transaction. The writer makes it durable before a start may trust the segment unread. One appender at a time, any number of
/// readers.
class AbortedIndex {
  public:
    static constexpr std::size_t kPendingMax = 4096;

    /// `base_offset` and `path` are those of the segment.
    AbortedIndex(OpenFiles& open_files, std::string path, Offset base_offset);

    /// The state of a file that an earlier run left.
    struct Loaded {
        /// From this offset on, the damaged file may lack entries. Unset when the file is whole.
        std::optional<Offset> damaged_from;
    };
    /// Takes over the file of an earlier run, up to the first entry that is wrong or ends at or behind `trusted_end`. It cuts the
    /// rest off. `next_base`: where the segment's offsets end.
    [[nodiscard]] StorageResult<Loaded> load(bool is_durable, Offset next_base, Offset trusted_end);

    /// Does nothing if the index already knows a transaction with this last offset or a later one (replay after a crash).
    void add(const AbortedTransaction& transaction);

    /// Forgets, durably, the entries that end at or behind `end`, because the log lost them.
    [[nodiscard]] StorageResult<void> truncate(Offset end);

    /// Appends to `found` the entries that overlap `[from, to)`, in their order. True when no later segment has any more of them.
    [[nodiscard]] StorageResult<bool> collect(Offset from, Offset to, std::vector<AbortedTransaction>& found) const;

    /// The entries from number `first` on, as many as one read returns; empty at the end.
    [[nodiscard]] StorageResult<std::vector<AbortedTransaction>> read_some(std::size_t first) const;

    [[nodiscard]] Offset base_offset() const { return base_offset_; }
    [[nodiscard]] IndexFile& file() { return file_; }
    [[nodiscard]] const IndexFile& file() const { return file_; }

  private:
    /// The number of entries that end before `offset`.
    [[nodiscard]] StorageResult<std::size_t> count_before(Offset offset) const;

    IndexFile file_;
    const Offset base_offset_;
    /// Last offset of the newest entry. Only the appender uses it.
    Offset last_offset_ = kNoOffset;
};

/// The aborted transactions that overlap `[from, to)`, in the order of their markers. `indexes` come from the segments that hold
/// `from` or lie behind it. A segment without aborted transactions has no index.
[[nodiscard]] StorageResult<std::vector<AbortedTransaction>> aborted_between(
    std::span<const std::shared_ptr<const AbortedIndex>> indexes, Offset from, Offset to);

}  // namespace partita
