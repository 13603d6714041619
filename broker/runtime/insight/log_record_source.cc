#include "broker/runtime/insight/log_record_source.h"

#include <algorithm>

#include "protocol/record_batch.h"

namespace partita::runtime {
namespace {

using expansion::RecordSink;
using expansion::ScanRange;

/// Where the segment behind `offset` begins: the way around bytes that cannot be walked over.
Offset next_segment(const PartitionLog& log, Offset offset, Offset end) {
    for (const SegmentSummary& segment : log.segments()) {
        if (segment.base_offset > offset) return std::min(segment.base_offset, end);
    }
    return end;
}

enum class BatchOutcome { read, stopped };

BatchOutcome read_batch(const Batch& batch, const ScanRange& range, RecordSink& sink) {
    if (batch.header.attributes.is_control()) return BatchOutcome::read;
    if (!check_crc(batch)) {
        sink.damage(batch.header.base_offset, "wrong checksum");
        return BatchOutcome::read;
    }
    bool stopped = false;
    const auto walked = for_each_record(batch, {}, [&](const RecordView& record) {
        if (record.offset < range.from || record.offset >= range.end) return true;
        const std::size_t size = (record.key ? record.key->size() : 0) + (record.value ? record.value->size() : 0);
        stopped = !sink.record({record.offset, record.key, size, record.value.has_value()});
        return !stopped;
    });
    if (!walked) sink.damage(batch.header.base_offset, batch_error_text(walked.error()));
    return stopped ? BatchOutcome::stopped : BatchOutcome::read;
}

}  // namespace

std::expected<void, std::string> LogRecordSource::read(const ScanRange& range, RecordSink& sink) {
    const PartitionLog& log = *logs_.at(static_cast<std::size_t>(range.partition.value));
    // Retention may have moved the start since the range was made.
    for (Offset from = std::max(range.from, log.log_start_offset()); from < range.end;) {
        const Step step = read_slice(log, from, range, sink);
        if (step.stop) return {};
        from = step.next;
    }
    return {};
}

LogRecordSource::Step LogRecordSource::read_slice(const PartitionLog& log, Offset from, const ScanRange& range,
                                                  RecordSink& sink) {
    const auto slice = log.read(from, {.upper_bound = range.end, .max_bytes = kReadBytes, .minimum_one_batch = true});
    if (!slice) {
        if (slice.error().error == ReadError::closed) return {range.end, true};
        // Removed by retention a moment ago, or unreadable.
        if (from < log.log_start_offset()) return {log.log_start_offset()};
        sink.damage(from, slice.error().message);
        return {next_segment(log, from, range.end)};
    }
    if (!slice->file || slice->size == 0) return {range.end, true};
    buffer_.resize(slice->size);
    const auto read = slice->file->read_at(slice->position, buffer_);
    if (!read) {
        sink.damage(from, read.error().message);
        return {next_segment(log, from, range.end)};
    }
    Offset next = from;
    BatchCursor cursor(Bytes(buffer_).first(*read));
    while (next < range.end && cursor.next()) {
        const Batch& batch = cursor.batch();
        if (read_batch(batch, range, sink) == BatchOutcome::stopped) return {next, true};
        next = std::max(next, batch.header.next_offset());
    }
    if (cursor.error()) {
        sink.damage(next, batch_error_text(*cursor.error()));
        return {next_segment(log, next, range.end)};
    }
    if (next == from) {
        // Neither a batch nor an error: the bytes end within the first batch, though it was promised whole.
        sink.damage(from, "the batch is cut off");
        return {next_segment(log, from, range.end)};
    }
    return {next};
}

}  // namespace partita::runtime
