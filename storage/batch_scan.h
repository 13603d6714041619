#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/record_batch.h"
#include "storage/file_system.h"

namespace partita {

/// Reads the whole batches, of any format, of a file one after the other and checks their CRC: the slow, careful sibling of
/// HeaderWalk, for recovery. Reads in pieces that fit into the processor's cache.
class BatchScan {
  public:
    static constexpr std::size_t kReadBytes = 256 * 1024;
    /// For a batch that claims to be larger, the scan checks the CRC piece by piece before it allocates memory. Otherwise one
    /// wrong bit in a length could read the rest of a segment into memory.
    static constexpr std::size_t kBelievedBytes = 4 * 1024 * 1024;

    enum class Found { batch, end, bad };
    struct Step {
        Found found = Found::end;
        /// Valid until the next step.
        Batch batch;
        /// Where the batch begins; for `bad`, where a batch should begin.
        std::uint64_t position = 0;
        /// The damage. Only for `bad`.
        BatchError error = BatchError::truncated;
    };

    BatchScan(File& file, std::uint64_t position, std::uint64_t end) : file_(file), position_(position), end_(end) {}

    /// Once it has answered `bad` or `end`, every further call answers the same.
    [[nodiscard]] StorageResult<Step> next();

  private:
    /// The bytes `[position_, position_ + count)`, fewer at the end.
    [[nodiscard]] StorageResult<Bytes> window(std::size_t count);

    File& file_;
    std::uint64_t position_;
    const std::uint64_t end_;
    std::vector<std::byte> buffer_;
    std::uint64_t buffer_start_ = 0;
    std::size_t buffer_size_ = 0;
};

/// Where every format so far has its magic.
inline constexpr std::size_t kBatchMagicPlace = 16;

/// The CRC that the batch of any format at `position` must have, computed in pieces of `BatchScan::kReadBytes`. The CRC of
/// formats 0 and 1 covers the magic: it counts as the header has it, which may differ from the file.
[[nodiscard]] StorageResult<std::uint32_t> batch_checksum(File& file, std::uint64_t position, const BatchHeader& header);

/// The bytes that a scan found behind a bad batch.
struct DamagedTail {
    bool all_zero = true;
    /// The tail holds a whole batch with a right CRC and an offset at or above `expected`, or too many places that look like one.
    bool holds_batches = false;
};

/// Looks at every byte of `[position, end)` for a batch that could be saved, in pieces of `BatchScan::kReadBytes`. If too many
/// places only look like batches, the search ends as if it had found one: the caller then sets the tail aside instead of losing
/// it.
[[nodiscard]] StorageResult<DamagedTail> inspect_damaged_tail(File& file, std::uint64_t position, std::uint64_t end,
                                                              Offset expected);

}  // namespace partita
