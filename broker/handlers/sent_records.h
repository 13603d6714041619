#pragma once

#include <optional>
#include <vector>

#include "broker/logs/read_request.h"
#include "protocol/arena.h"
#include "protocol/schema.h"

namespace partita::handlers {

/// The records of the slice for an answer: as a reference that the socket sends from the file, which `slices` then has, or as a
/// copy. Empty if they cannot be read.
[[nodiscard]] std::optional<Records> sent_records(Arena& arena, FileSlice& slice, std::vector<FileSlice>& slices);

}  // namespace partita::handlers
