#include "broker/logs/drained_position.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "broker/logs/aborted_follower.h"
#include "protocol/assert.h"
#include "protocol/record_batch.h"
#include "storage/log_markers.h"

namespace partita::logs {
namespace {

constexpr std::uint32_t kReadBytes = 16 * 1024;

/// The end offset of the last batch that begins in `bytes`.
Offset end_of_batches(Bytes bytes) {
    Offset end{0};
    for (std::size_t position = 0; position < bytes.size();) {
        const auto header = parse_log_header(bytes.subspan(position));
        if (!header) {
            break;
        }
        end = header->next_offset();
        position += header->size_bytes();
    }
    return end;
}

Offset scan_for_deliverable(const PartitionLog& log, Offset from, bool read_committed, std::size_t& scanned) {
    const Offset end = read_committed ? log.last_stable_offset() : log.high_watermark();
    Offset at = std::max(from, log.log_start_offset());
    if (at >= end) {
        return std::max(at, end);
    }
    AbortedFollower aborted;
    std::vector<std::byte> bytes;
    while (at < end && scanned < kDrainedScanBytesMax) {
        const auto slice = log.read(at, {.upper_bound = end, .max_bytes = kReadBytes, .minimum_one_batch = true});
        if (!slice || !slice->file || slice->size == 0) {
            return at;
        }
        // For a large batch the header suffices.
        bytes.resize(std::min<std::size_t>(slice->size, kReadBytes));
        const auto read = slice->file->read_at(slice->position, bytes);
        if (!read || *read != bytes.size()) {
            return at;
        }
        if (read_committed && !aborted.look_up(log, at, std::max(at + 1, end_of_batches(bytes)))) {
            return at;
        }
        const Offset before = at;
        for (std::size_t position = 0; position < bytes.size();) {
            const auto header = parse_log_header(Bytes(bytes).subspan(position));
            if (!header) {
                break;
            }
            const bool is_aborted = aborted.covers(*header);
            const bool is_deliverable = !header->attributes.is_control() && header->record_count > 0 && !is_aborted;
            if (header->next_offset() > at) {
                if (is_deliverable) {
                    return header->knows_first_offset() ? std::max(at, header->base_offset) : at;
                }
                at = header->next_offset();
            }
            position += header->size_bytes();
        }
        scanned += bytes.size();
        if (at == before) {
            return at;
        }
    }
    return at;
}

}  // namespace

Offset first_deliverable(const PartitionLog& log, Offset from, bool read_committed) {
    std::size_t scanned = 0;
    return scan_for_deliverable(log, from, read_committed, scanned);
}

Offset DrainedPositions::first_deliverable(PartitionLog& log, Offset from) {
    from = std::max(from, log.log_start_offset());
    if (from >= markers_end(log)) {
        return from;
    }
    std::map<Offset, Offset>& known = drained_[&log];
    if (const auto behind = known.upper_bound(from); behind != known.begin()) {
        const auto& [begin, end] = *std::prev(behind);
        if (from <= end) {
            return end;
        }
    }
    if (bytes_read_ >= bytes_max_) {
        return from;
    }
    std::size_t scanned = 0;
    const Offset result = scan_for_deliverable(log, from, true, scanned);
    PARTITA_ASSERT(result >= from, "what is drained does not go back");
    bytes_read_ += std::max(scanned, kLookBytes);
    known.insert_or_assign(from, result);
    return result;
}

}  // namespace partita::logs
