#pragma once

#include <cstdint>
#include <memory>

#include "protocol/types.h"

namespace partita {

class File;

/// A run of bytes of one segment, ready for sendfile. It starts at the batch that contains the wanted offset; that
/// batch is never trimmed, so its base offset may be lower. `max_bytes` may cut off the last batch, as in Kafka;
/// clients drop a partial batch. It never ends before the first batch does.
struct FileSlice {
    /// Null when the slice is empty.
    std::shared_ptr<File> file;
    std::uint64_t position = 0;
    std::uint32_t size = 0;
    /// Base offset of the first batch; the wanted offset when empty.
    Offset base_offset{0};
    /// Size of the first batch: what `minimum_one_batch` guaranteed.
    std::uint32_t first_batch_size = 0;
    /// This process wrote the slice a short while ago, into the newest segment. The caller may assume that the page cache has it.
    bool is_recent = false;
    /// Bytes up to the end of the segment's published data, or to the bound: `size` could grow to this.
    std::uint32_t available_bytes = 0;
};

}  // namespace partita
