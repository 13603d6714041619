#include "broker/logs/slice_batches.h"

#include <algorithm>

#include "protocol/assert.h"
#include "storage/segment.h"

namespace partita::logs {

std::optional<SliceBatches> slice_batches(const FileSlice& slice) {
    SliceBatches found;
    const std::uint64_t end = slice.position + slice.size;
    HeaderWalk walk(*slice.file, slice.position, end);
    std::uint64_t next = slice.position;
    while (next < end) {
        const auto placed = walk.next();
        // A batch that is cut off at the end comes again with the next answer.
        if (!placed || !*placed || (*placed)->position + (*placed)->header.size_bytes() > end) {
            break;
        }
        found.headers.push_back((*placed)->header);
        found.positions.push_back((*placed)->position);
        next = (*placed)->position + (*placed)->header.size_bytes();
    }
    found.positions.push_back(next);
    // A read gives at least one whole batch.
    return found.headers.empty() ? std::nullopt : std::optional(std::move(found));
}

void cut_slice(FileSlice& slice, const SliceBatches& batches, Offset first, Offset last) {
    const auto begin_of = [&](Offset offset) {
        const auto after = std::ranges::upper_bound(batches.headers, offset, {}, &BatchHeader::base_offset);
        return static_cast<std::size_t>(after - batches.headers.begin());
    };
    const std::size_t begin = std::max<std::size_t>(1, begin_of(first)) - 1;
    const std::size_t end = std::max(begin + 1, begin_of(last));
    PARTITA_ASSERT(end < batches.positions.size(), "each batch has a position, and so has the end");
    slice.size = static_cast<std::uint32_t>(batches.positions[end] - batches.positions[begin]);
    slice.position = batches.positions[begin];
    slice.base_offset = batches.headers[begin].base_offset;
}

}  // namespace partita::logs
