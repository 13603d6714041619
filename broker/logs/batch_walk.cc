#include "broker/logs/batch_walk.h"

#include <algorithm>

namespace partita::logs {
namespace {

/// Returns the start of the next segment after `offset`. A walk continues there when it cannot get past unreadable bytes.
Offset next_segment(const PartitionLog& log, Offset offset, Offset end) {
    for (const SegmentSummary& segment : log.segments()) {
        if (segment.base_offset > offset) {
            return std::min(segment.base_offset, end);
        }
    }
    return end;
}

}  // namespace

Offset BatchWalk::walk(const PartitionLog& log, Offset from, Offset end, BatchVisitor& visitor) {
    for (from = std::max(from, log.log_start_offset()); from < end;) {
        const Step step = read_slice(log, from, end, visitor);
        if (step.stop) {
            return step.next;
        }
        from = step.next;
    }
    return from;
}

BatchWalk::Step BatchWalk::read_slice(const PartitionLog& log, Offset from, Offset end, BatchVisitor& visitor) {
    const auto slice = log.read(from, {.upper_bound = end, .max_bytes = read_bytes_, .minimum_one_batch = true});
    if (!slice) {
        if (slice.error().error == ReadError::closed) {
            return {end, true};
        }
        // Retention removed the batch a moment ago, or the batch is unreadable.
        if (from < log.log_start_offset()) {
            return {log.log_start_offset()};
        }
        visitor.damage(from, slice.error().message);
        return {next_segment(log, from, end)};
    }
    if (!slice->file || slice->size == 0) {
        return {end, true};
    }
    buffer_.resize(slice->size);
    const auto read = slice->file->read_at(slice->position, buffer_);
    if (!read) {
        visitor.damage(from, read.error().message);
        return {next_segment(log, from, end)};
    }
    Offset next = from;
    BatchCursor cursor(Bytes(buffer_).first(*read));
    while (next < end && cursor.next()) {
        const Batch& batch = cursor.batch();
        next = std::max(next, batch.header.next_offset());
        if (!check_crc(batch)) {
            visitor.damage(batch.header.base_offset, "wrong checksum");
        } else if (!visitor.batch(batch)) {
            return {next, true};
        }
    }
    if (cursor.error()) {
        visitor.damage(next, batch_error_text(*cursor.error()));
        return {next_segment(log, next, end)};
    }
    if (next == from) {
        // This is neither a batch nor an error: the bytes end within the first batch, although `read` promises a whole one.
        visitor.damage(from, "the batch is cut off");
        return {next_segment(log, from, end)};
    }
    return {next};
}

}  // namespace partita::logs
