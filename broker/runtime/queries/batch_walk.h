#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "protocol/record_batch.h"
#include "protocol/types.h"
#include "storage/partition_log.h"

namespace partita::runtime {

/// What a walk over a log hands out.
class BatchVisitor {
  public:
    virtual ~BatchVisitor() = default;
    /// A whole batch with a right checksum, data or control; it may begin before the first offset that was asked for. False ends
    /// the walk.
    [[nodiscard]] virtual bool batch(const Batch& batch) = 0;
    /// Something at about this offset cannot be read and is left out.
    virtual void damage(Offset offset, std::string_view reason) = 0;
};

/// Walks over the batches of a log, in their order, through the page cache and a buffer of its own. It blocks on the disk: no
/// reactor may call it.
///
/// What is damaged is told and left out: only the batch where it can be told from its neighbours, otherwise the rest of the
/// segment. When the log is deleted meanwhile, the walk ends there.
class BatchWalk {
  public:
    static constexpr std::uint32_t kReadBytes = 1 << 20;

    /// `read_bytes`: how much is read at a time; a batch that is larger is read whole.
    explicit BatchWalk(std::uint32_t read_bytes = kReadBytes) : read_bytes_(read_bytes) {}

    /// The batches that hold offsets of [from, end); from the log's start if that lies behind `from`, because retention may have
    /// moved it since. Returns where another walk goes on: `end`, unless the visitor ended this one (then behind its last batch).
    Offset walk(const PartitionLog& log, Offset from, Offset end, BatchVisitor& visitor);

  private:
    struct Step {
        /// Where to go on.
        Offset next;
        bool stop = false;
    };
    [[nodiscard]] Step read_slice(const PartitionLog& log, Offset from, Offset end, BatchVisitor& visitor);

    const std::uint32_t read_bytes_;
    std::vector<std::byte> buffer_;
};

}  // namespace partita::runtime
