#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <utility>
#include <vector>

#include "broker/insight/keys/topic_watch.h"
#include "protocol/record_batch.h"
#include "protocol/try.h"

/// The parts of one batch that a TopicWatch needs, copied so that another thread can look at them later. From an uncompressed
/// batch only the keys are copied: a few bytes for each record, independent of its value's size. A compressed batch is copied
/// whole, because decompression is the work that should happen elsewhere.
namespace partita::insight {

class BatchSample {
  public:
    /// Most records of one batch that are looked at; later records of the batch are skipped.
    static constexpr std::size_t kRecordsMax = 20'000;
    /// At most this many bytes of a compressed batch are decompressed.
    static constexpr std::size_t kDecompressedBytesMax = std::size_t{16} << 20;

    /// Fails as RecordReader::next does on an uncompressed batch. Only `for_each` checks a compressed batch.
    [[nodiscard]] static std::expected<BatchSample, BatchError> take(const Batch& batch);

    /// Bytes of memory that the sample holds.
    [[nodiscard]] std::size_t size_bytes() const { return bytes_.size(); }
    /// For a compressed batch: the count that its header declares.
    [[nodiscard]] std::size_t record_count() const { return record_count_; }

    /// Calls `use(const SentRecord&)` for every record; its key is valid during the call. The caller passes the partition because
    /// the sample does not hold it. Fails on a damaged compressed batch, as parse_batch and RecordReader::next do; `use` has then
    /// seen the records before the damage.
    template <class Use>
    [[nodiscard]] std::expected<void, BatchError> for_each(PartitionIndex partition, Use use) const {
        if (is_whole_batch_) {
            return for_each_of_batch(partition, use);
        }
        for (std::size_t position = 0; position < bytes_.size();) {
            use(read(position, partition));
        }
        return {};
    }

  private:
    BatchSample() = default;

    void append(const RecordView& record);
    /// Reads the record at `position` and moves `position` behind it.
    [[nodiscard]] SentRecord read(std::size_t& position, PartitionIndex partition) const;
    [[nodiscard]] SentRecord sent(const RecordView& record, PartitionIndex partition) const {
        return {.key = record.key,
                .has_value = record.value.has_value(),
                .partition = partition,
                .offset = record.offset,
                .size_bytes = record.size_bytes,
                .transactional_batch = is_transactional_ ? base_offset_ : kNoOffset};
    }

    template <class Use>
    [[nodiscard]] std::expected<void, BatchError> for_each_of_batch(PartitionIndex partition, Use& use) const {
        PARTITA_TRY_ASSIGN(const auto batch, parse_batch(bytes_));
        std::size_t records = 0;
        return for_each_record(batch, {.decompressed_limit_bytes = kDecompressedBytesMax}, [&](const RecordView& record) {
            use(sent(record, partition));
            return ++records < kRecordsMax;
        });
    }

    Offset base_offset_{};
    std::size_t record_count_ = 0;
    bool is_whole_batch_ = false;
    bool is_transactional_ = false;
    std::vector<std::byte> bytes_;
};

}  // namespace partita::insight
