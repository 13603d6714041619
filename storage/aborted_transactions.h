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
    /// Nothing below it was undecided when the marker was written: no later entry begins below it.
    Offset last_stable_offset;

    void encode(std::byte* to) const;
    [[nodiscard]] static std::optional<AbortedTransaction> decode(Bytes bytes);
    friend bool operator==(const AbortedTransaction&, const AbortedTransaction&) = default;
};

/// The aborted transactions whose markers one segment holds, ascending by last offset. They stay in the file and are read there;
/// in memory are only those that are not written yet, and `AbortedIndex::kPendingMax` at most for as long as the disk takes them.
///
/// Unlike the other indexes it is no cache: without an entry, records of an aborted transaction would be shown to readers of
/// committed ones. Whoever writes it makes it durable before anybody trusts the segment unread. One appender at a time, any
/// number of readers.
class AbortedIndex {
  public:
    static constexpr std::size_t kPendingMax = 4096;

    /// `base_offset` and path are those of the segment.
    AbortedIndex(OpenFiles& open_files, std::string path, Offset base_offset);

    /// What a file of an earlier run is good for.
    struct Loaded {
        /// From this offset on entries may be missing that should be there, because the file is damaged; unset when it is whole.
        std::optional<Offset> damaged_from;
    };
    /// Takes over the file of an earlier run up to the first entry that cannot be right, or that ends at or behind `trusted_end`;
    /// the rest is cut off. `next_base`: where the segment's offsets end.
    [[nodiscard]] StorageResult<Loaded> load(bool is_durable, Offset next_base, Offset trusted_end);

    /// Does nothing when a transaction with this last offset, or a later one, is known (replay after a crash).
    void add(const AbortedTransaction& transaction);

    /// Forgets those that end at or behind `end`, durably: the log lost them.
    [[nodiscard]] StorageResult<void> truncate(Offset end);

    /// Appends to `found` those that overlap `[from, to)`, in their order. True when no later segment has any more.
    [[nodiscard]] StorageResult<bool> collect(Offset from, Offset to, std::vector<AbortedTransaction>& found) const;

    /// All entries from number `first` on, as many as are read in one go; empty at the end.
    [[nodiscard]] StorageResult<std::vector<AbortedTransaction>> read_some(std::size_t first) const;

    [[nodiscard]] Offset base_offset() const { return base_offset_; }
    [[nodiscard]] IndexFile& file() { return file_; }
    [[nodiscard]] const IndexFile& file() const { return file_; }

  private:
    /// How many entries end before `offset`.
    [[nodiscard]] StorageResult<std::size_t> count_before(Offset offset) const;

    IndexFile file_;
    const Offset base_offset_;
    /// Of the newest entry; the appender's.
    Offset last_offset_ = kNoOffset;
};

/// The aborted transactions that overlap `[from, to)`, in the order of their markers. `indexes` are those of the segments from
/// the one that holds `from` on; segments without aborted transactions have none.
[[nodiscard]] StorageResult<std::vector<AbortedTransaction>> aborted_between(
    std::span<const std::shared_ptr<const AbortedIndex>> indexes, Offset from, Offset to);

}  // namespace partita
