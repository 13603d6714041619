#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "protocol/record_batch.h"
#include "protocol/types.h"
#include "storage/partition_log.h"

namespace partita::logs {

/// Receives the batches of a walk over a log.
class BatchVisitor {
  public:
    virtual ~BatchVisitor() = default;
    /// Called with a whole batch, data or control, whose checksum is correct. The batch may begin before the first offset that
    /// the caller asked for. False ends the walk.
    [[nodiscard]] virtual bool batch(const Batch& batch) = 0;
    /// The walk cannot read something at about this offset and leaves it out.
    virtual void damage(Offset offset, std::string_view reason) = 0;
};

/// Walks over the batches of a log in order, through the page cache and a buffer of its own. It blocks on the disk, so reactors
/// must not call it.
///
/// The walk reports damage and skips it: only the damaged batch if its end is known, otherwise the rest of the segment. If the
/// log is deleted meanwhile, the walk ends there.
class BatchWalk {
  public:
    static constexpr std::uint32_t kReadBytes = 1 << 20;

    /// `read_bytes`: how much one read asks for. A larger batch is still read whole.
    explicit BatchWalk(std::uint32_t read_bytes = kReadBytes) : read_bytes_(read_bytes) {}

    /// Visits the batches that hold offsets of [from, end). If retention has moved the log's start past `from`, the walk begins
    /// at that start. Returns where another walk continues: `end`, or the end of the last batch if the visitor ended the walk.
    Offset walk(const PartitionLog& log, Offset from, Offset end, BatchVisitor& visitor);

  private:
    struct Step {
        /// Where the walk continues.
        Offset next;
        bool stop = false;
    };
    [[nodiscard]] Step read_slice(const PartitionLog& log, Offset from, Offset end, BatchVisitor& visitor);

    const std::uint32_t read_bytes_;
    std::vector<std::byte> buffer_;
};

}  // namespace partita::logs
