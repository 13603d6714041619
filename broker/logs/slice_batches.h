#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/record_batch.h"
#include "protocol/types.h"
#include "storage/file_slice.h"

namespace partita::logs {

/// The whole batches of a slice, ascending.
struct SliceBatches {
    std::vector<BatchHeader> headers;
    /// Where each begins in the slice's file, in their order, and then the end of the last.
    std::vector<std::uint64_t> positions;
};

/// Reads the headers of the slice's batches. Empty if the file cannot be read.
[[nodiscard]] std::optional<SliceBatches> slice_batches(const FileSlice& slice);

/// Cuts the slice to the batches that hold the offsets, first to last.
void cut_slice(FileSlice& slice, const SliceBatches& batches, Offset first, Offset last);

}  // namespace partita::logs
