#include "storage/keyed_log_reader.h"

#include <algorithm>
#include <utility>

#include "protocol/try.h"

namespace partita {

KeyedLogReader::KeyedLogReader(const PartitionLog& log, Offset from, Offset to, const KeyedLogOptions& options)
    : log_(log), from_(from), to_(to), options_(options), position_(from) {
    if (from >= to) {
        return;
    }
    for (const ProducerSummary& producer : log.active_producers()) {
        if (producer.current_transaction_start != kNoOffset) {
            open_transactions_.push_back(producer);
        }
    }
}

StorageError KeyedLogReader::damaged(Offset at, std::string_view why) const {
    return corrupt_error(log_.directory_path(),
                         "the batch at offset " + std::to_string(at.value) + " is damaged: " + std::string(why));
}

StorageResult<bool> KeyedLogReader::fill() {
    if (position_ >= to_ || bytes_read_ >= options_.bytes_max) {
        return false;
    }
    const auto slice = log_.read(position_, {.upper_bound = to_, .max_bytes = options_.read_bytes, .minimum_one_batch = true});
    if (!slice) {
        const auto kind = slice.error().error == ReadError::closed ? StorageError::Kind::closed : StorageError::Kind::io;
        return std::unexpected(StorageError{kind, 0, "cannot read " + log_.directory_name() + ": " + slice.error().message});
    }
    if (slice->size == 0) {
        return false;
    }
    buffer_.resize(slice->size);
    consumed_ = 0;
    PARTITA_TRY_ASSIGN(const auto count, slice->file->read_at(slice->position, buffer_));
    if (count != buffer_.size()) {
        return std::unexpected(damaged(position_, "its file is too short"));
    }
    bytes_read_ += count;
    PARTITA_TRY(find_aborted());
    return true;
}

StorageResult<void> KeyedLogReader::find_aborted() {
    aborted_.clear();
    next_aborted_ = 0;
    aborting_producers_.clear();
    if (!log_.has_aborted_transactions(position_)) {
        return {};
    }
    Offset end = position_;
    for (BatchCursor cursor{Bytes(buffer_)}; cursor.next();) {
        end = std::max(end, cursor.batch().header.next_offset());
    }
    PARTITA_TRY_ASSIGN(aborted_, log_.aborted_transactions(position_, std::min(end, to_)));
    std::ranges::sort(aborted_, {}, [](const auto& transaction) { return transaction.first_offset; });
    return {};
}

StorageResult<bool> KeyedLogReader::next_batch(KeyedRecordVisitor visitor) {
    bool is_fresh = false;
    while (true) {
        BatchCursor cursor(Bytes(buffer_).subspan(consumed_));
        if (cursor.next()) {
            const Batch batch = cursor.batch();
            if (batch.header.base_offset >= to_ && batch.header.knows_first_offset()) {
                return false;
            }
            consumed_ += cursor.position_bytes();
            is_fresh = false;
            if (batch.header.next_offset() <= position_) {
                continue;
            }
            if (!check_crc(batch)) {
                return std::unexpected(damaged(batch.header.base_offset, "wrong checksum"));
            }
            const bool has_data = !batch.header.attributes.is_control();
            if (is_aborted(batch) || !has_data) {
                position_ = batch.header.next_offset();
                continue;
            }
            PARTITA_TRY(visit_batch(batch, visitor));
            position_ = batch.header.next_offset();
            return true;
        }
        if (cursor.error()) {
            return std::unexpected(damaged(position_, batch_error_text(*cursor.error())));
        }
        // A read always gives one whole batch. Without progress right after a read, the loop would never end.
        if (is_fresh) {
            return std::unexpected(damaged(position_, "it ends before it should"));
        }
        auto filled = fill();
        if (!filled || !*filled) {
            return filled;
        }
        is_fresh = true;
    }
}

bool KeyedLogReader::is_aborted(const Batch& batch) {
    if (!batch.header.attributes.is_transactional()) {
        return false;
    }
    while (next_aborted_ < aborted_.size() && aborted_[next_aborted_].first_offset <= batch.header.last_offset()) {
        aborting_producers_.insert(aborted_[next_aborted_++].producer_id.value);
    }
    if (!batch.header.attributes.is_control()) {
        return aborting_producers_.contains(batch.header.producer_id.value);
    }
    // The marker ends the transaction, committed or aborted; a later one of the producer has its own entry.
    aborting_producers_.erase(batch.header.producer_id.value);
    return false;
}

bool KeyedLogReader::is_open(const Batch& batch) const {
    if (!batch.header.attributes.is_transactional()) {
        return false;
    }
    return std::ranges::any_of(open_transactions_, [&](const ProducerSummary& producer) {
        return producer.producer_id == batch.header.producer_id && batch.header.base_offset >= producer.current_transaction_start;
    });
}

StorageResult<void> KeyedLogReader::visit_batch(const Batch& batch, KeyedRecordVisitor visitor) {
    const bool in_open_transaction = is_open(batch);
    StorageResult<void> visited;
    const auto walked = for_each_record(batch, {}, [&](const RecordView& record) {
        // The position may lie inside a batch: the records before it are known. A record without a key has no meaning here.
        if (record.offset < from_ || !record.key) {
            return true;
        }
        visited = visitor({.key = *record.key,
                           .value = record.value,
                           .offset = record.offset,
                           .timestamp = record.timestamp,
                           .producer_id = batch.header.producer_id,
                           .producer_epoch = batch.header.producer_epoch,
                           .in_open_transaction = in_open_transaction});
        return visited.has_value();
    });
    if (!walked) {
        return std::unexpected(damaged(batch.header.base_offset, batch_error_text(walked.error())));
    }
    return visited;
}

}  // namespace partita
