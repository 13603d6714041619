#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <vector>

#include "protocol/byte_buffer.h"
#include "protocol/compression.h"
#include "protocol/record_batch.h"
#include "protocol/types.h"

namespace partita {

/// The fields of a batch that its builder cannot derive from the records.
struct BatchOptions {
    Offset base_offset{0};
    LeaderEpoch partition_leader_epoch = kNoLeaderEpoch;
    Codec codec = Codec::none;
    /// Empty: the codec's default.
    std::optional<int> compression_level;
    ProducerId producer_id = kNoProducerId;
    ProducerEpoch producer_epoch{-1};
    Sequence base_sequence{-1};
    bool transactional = false;
    bool control = false;
    /// Set: LogAppendTime with this time. Empty: CreateTime with the records' own times.
    std::optional<TimestampMs> log_append_time;
    /// Set: the delete horizon bit is set, and this time replaces the base timestamp.
    std::optional<TimestampMs> delete_horizon;
    /// The greatest time in the header of a batch without records. Compaction keeps the time of a batch that it empties.
    TimestampMs max_timestamp_without_records = kNoTimestamp;
};

/// Encodes records into one batch. Encodes each record when it is appended, so that memory holds it once.
///
///     BatchBuilder builder({.base_offset = next});
///     builder.append(now, key, value);
///     builder.build(out);
class BatchBuilder {
  public:
    explicit BatchBuilder(BatchOptions options = {});

    /// Adds a record with the next offset. A missing key or value is null. Callers must bound their batches far below
    /// 2^31-1 records and records of 2 GiB.
    void append(TimestampMs timestamp, std::optional<Bytes> key, std::optional<Bytes> value,
                std::span<const RecordHeader> headers = {});

    /// Appends like `append`, with an offset delta that must be greater than all before it: for batches with holes.
    void append_at(std::int32_t offset_delta, TimestampMs timestamp, std::optional<Bytes> key, std::optional<Bytes> value,
                   std::span<const RecordHeader> headers = {});

    /// The places where the caller writes the key and the value of a record.
    struct Places {
        std::byte* key;
        std::byte* value;
    };
    /// Appends like `append`, for a caller that encodes straight into the batch: adds a record whose key and value have these
    /// sizes. The caller writes all their bytes before any other call.
    [[nodiscard]] Places append_in_place(TimestampMs timestamp, std::size_t key_bytes, std::size_t value_bytes);

    /// Adds a record with the key, value, time and headers of `record`; the headers stay unchanged.
    void append_copy(std::int32_t offset_delta, const RecordView& record);

    [[nodiscard]] std::int32_t record_count() const { return record_count_; }
    /// The number of bytes that `build` would append without compression.
    [[nodiscard]] std::size_t uncompressed_size_bytes() const { return kBatchHeaderBytes + records_.size(); }

    /// Appends the finished batch, checksum included, to `out`. The builder is then empty, with the same options; its memory
    /// stays for the next batch. `last_offset_delta` overrides the last record's. For batches whose last records were compacted
    /// away, or that have no records any more.
    void build(std::vector<std::byte>& out, std::optional<std::int32_t> last_offset_delta = std::nullopt);

    /// Empties the builder and changes its options.
    void reset(BatchOptions options);

  private:
    /// Makes room for a record, writes its beginning, and returns where the caller writes the rest. Key, value and headers, with
    /// their lengths and count, take `content_bytes`.
    [[nodiscard]] std::byte* begin_record(std::int32_t offset_delta, TimestampMs timestamp, std::size_t content_bytes);

    BatchOptions options_;
    ByteBuffer records_;
    std::int32_t record_count_ = 0;
    std::int32_t last_offset_delta_ = -1;
    TimestampMs base_timestamp_ = kNoTimestamp;
    TimestampMs max_timestamp_ = kNoTimestamp;
};

/// Appends to `out` a batch with the same records and fields in another codec; offsets and times of the records stay. For topics
/// whose `compression.type` differs from the producer's choice. Errors as for `RecordReader::next`; `out` is then unchanged.
[[nodiscard]] std::expected<void, BatchError> recompress_batch(const Batch& batch, Codec codec,
                                                               std::optional<int> compression_level, std::vector<std::byte>& out);

/// The type of a control record, from its key (version int16, type int16).
enum class ControlRecordType : std::int16_t { abort = 0, commit = 1 };

/// The marker that ends a transaction in a partition.
struct EndTransactionMarker {
    ControlRecordType type = ControlRecordType::abort;
    std::int32_t coordinator_epoch = 0;
    friend bool operator==(const EndTransactionMarker&, const EndTransactionMarker&) = default;
};

/// Appends a control batch with one marker: transactional and control bits, no sequence.
void build_end_transaction_marker(const EndTransactionMarker& marker, Offset base_offset, LeaderEpoch partition_leader_epoch,
                                  ProducerId producer_id, ProducerEpoch producer_epoch, TimestampMs timestamp,
                                  std::vector<std::byte>& out);

/// Reads the marker from a record of a control batch. Empty for a control record of another type (Kafka's metadata log has some)
/// or one that is too short. Higher versions extend version 0, so they are read as version 0.
[[nodiscard]] std::optional<EndTransactionMarker> parse_end_transaction_marker(const RecordView& record);

}  // namespace partita
