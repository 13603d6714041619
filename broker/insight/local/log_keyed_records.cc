#include "broker/insight/local/log_keyed_records.h"

#include <algorithm>
#include <array>

#include "broker/logs/topic_table.h"
#include "protocol/legacy_records.h"
#include "protocol/record_batch.h"
#include "storage/keyed_log_reader.h"
#include "storage/partition_log.h"

namespace partita::insight {

const PartitionLog* LogKeyedRecords::log_of(PartitionIndex partition) const {
    const logs::Partition* state = topic_.partition(partition.value);
    return state == nullptr ? nullptr : state->log.get();
}

Offset LogKeyedRecords::read(PartitionIndex partition, Offset from, Offset to, Visit visit) {
    const PartitionLog* log = log_of(partition);
    if (log == nullptr) {
        return to;
    }
    const Offset end = std::min(to, log->last_stable_offset());
    from = std::max(from, log->log_start_offset());
    // Records without keys and aborted ones cost their bytes, too.
    const std::size_t bytes_max = bytes_left_;
    KeyedLogReader reader(*log, from, end, {.bytes_max = bytes_max});
    std::size_t records = 0;
    while (has_budget()) {
        const Offset before = reader.position();
        const std::size_t bytes_before = reader.bytes_read();
        records = 0;
        const auto more = reader.next_batch([&](const KeyedRecord& record) -> StorageResult<void> {
            ++records;
            if (record.offset < end) {
                visit(record.offset, record.key, record.timestamp);
            }
            return {};
        });
        spend(reader.bytes_read() - bytes_before + records * kRecordCostBytes);
        if (!more) {
            // Retention may have removed these records a moment ago: the caller goes on behind them.
            const Offset start = log->log_start_offset();
            if (before < start) {
                return std::clamp(start, from, std::max(from, to));
            }
            is_complete_ = false;
            return to;
        }
        if (!*more && reader.bytes_read() < bytes_max) {
            return end < to ? std::max(from, end) : to;
        }
    }
    return std::min(std::max(from, reader.position()), to);
}

std::optional<Offset> LogKeyedRecords::end_of_answer(PartitionIndex partition, Offset from, std::uint32_t bytes) {
    const PartitionLog* log = log_of(partition);
    if (log == nullptr) {
        return std::nullopt;
    }
    const auto slice = log->read(from, {.upper_bound = log->high_watermark(), .max_bytes = bytes, .minimum_one_batch = true});
    if (!slice || !slice->file) {
        return std::nullopt;
    }
    std::optional<Offset> end;
    for (std::uint64_t position = 0; slice->size - position >= kLegacyEntryBytesMin;) {
        std::array<std::byte, kBatchHeaderBytes> room;
        const auto header_bytes = MutableBytes(room).first(std::min<std::size_t>(room.size(), slice->size - position));
        const auto read = slice->file->read_at(slice->position + position, header_bytes);
        if (!read || *read != header_bytes.size()) {
            break;
        }
        const auto header = parse_log_header(header_bytes);
        // An answer may end within a batch. Clients leave that batch out, and ask for it again.
        if (!header || position + header->size_bytes() > slice->size) {
            break;
        }
        spend(header_bytes.size());
        end = header->next_offset();
        position += header->size_bytes();
        if (position >= slice->size) {
            break;
        }
    }
    return end;
}

std::optional<std::string> LogKeyedRecords::key_at(PartitionIndex partition, Offset offset) {
    const PartitionLog* log = log_of(partition);
    std::optional<std::string> key;
    if (log == nullptr || offset < log->log_start_offset()) {
        return key;
    }
    // A read gives at least the batch that holds the record.
    KeyedLogReader reader(*log, offset, log->last_stable_offset(), {.read_bytes = 1});
    const auto read = reader.next_batch([&](const KeyedRecord& record) -> StorageResult<void> {
        if (record.offset == offset) {
            key.emplace(as_text(record.key));
        }
        return {};
    });
    return read ? key : std::nullopt;
}

}  // namespace partita::insight
