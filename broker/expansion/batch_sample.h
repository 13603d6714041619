#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <utility>
#include <vector>

#include "broker/expansion/topic_watch.h"
#include "protocol/record_batch.h"

/// What a TopicWatch wants to know of the records of one batch, copied so that it can be looked at elsewhere and later.
/// Keys are all that is copied of records that are not compressed: a few bytes of each, whatever their values weigh. A
/// compressed batch is copied as it is, since decompressing is what should happen elsewhere.
namespace partita::expansion {

class BatchSample {
  public:
    /// Records of one batch that are kept; the ones behind them are not looked at.
    static constexpr std::size_t kRecordsMax = 20'000;
    /// Bytes that are decompressed for them.
    static constexpr std::size_t kDecompressedBytesMax = std::size_t{16} << 20;

    /// Errors: of records that are not compressed, those of RecordReader::next. Compressed ones are judged by `for_each`.
    [[nodiscard]] static std::expected<BatchSample, BatchError> take(const Batch& batch);

    /// Memory that it holds.
    [[nodiscard]] std::size_t size_bytes() const { return bytes_.size(); }
    /// As declared for compressed batches.
    [[nodiscard]] std::size_t record_count() const { return record_count_; }

    /// Calls `use(const SentRecord&)` for every record, with the keys valid during the call. `partition` is not in the sample.
    /// Errors: of compressed batches, those of parse_batch and RecordReader::next; records before the bad one were handed out.
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
    /// The record at `position`, which moves behind it.
    [[nodiscard]] SentRecord read(std::size_t& position, PartitionIndex partition) const;
    [[nodiscard]] static SentRecord sent(const RecordView& record, PartitionIndex partition) {
        return {.key = record.key,
                .has_value = record.value.has_value(),
                .partition = partition,
                .offset = record.offset,
                .size_bytes = record.size_bytes};
    }

    template <class Use>
    [[nodiscard]] std::expected<void, BatchError> for_each_of_batch(PartitionIndex partition, Use& use) const {
        const auto batch = parse_batch(bytes_);
        if (!batch) {
            return std::unexpected(batch.error());
        }
        std::size_t records = 0;
        return for_each_record(*batch, {.decompressed_limit_bytes = kDecompressedBytesMax}, [&](const RecordView& record) {
            use(sent(record, partition));
            return ++records < kRecordsMax;
        });
    }

    Offset base_offset_{};
    std::size_t record_count_ = 0;
    bool is_whole_batch_ = false;
    std::vector<std::byte> bytes_;
};

}  // namespace partita::expansion
