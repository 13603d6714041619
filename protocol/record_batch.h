#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "protocol/compression.h"
#include "protocol/try.h"
#include "protocol/types.h"
#include "protocol/varint.h"

namespace partita {

// Record batch, format 2 (magic 2). Positions of the fields, all big-endian:
//
//    0 base offset        int64      23 last offset delta  int32
//    8 batch length       int32      27 base timestamp     int64
//   12 leader epoch       int32      35 max timestamp      int64
//   16 magic              int8       43 producer id        int64
//   17 CRC-32C            uint32     51 producer epoch     int16
//   21 attributes         int16      53 base sequence      int32
//                                    57 record count       int32   61 records
//
// The batch length counts from byte 12. The checksum covers byte 21 to the end, so the broker can set base offset and leader
// epoch without computing it again.

inline constexpr std::size_t kBatchPrefixBytes = 12;
inline constexpr std::size_t kBatchHeaderBytes = 61;
inline constexpr std::size_t kBatchCrcCoverageStart = 21;
inline constexpr std::int8_t kCurrentMagic = 2;

/// Errors in the bytes of a batch. The edge maps them to Kafka's codes.
enum class [[nodiscard]] BatchError : std::uint8_t {
    truncated,         ///< The bytes end before the batch does (a torn tail, or a short request).
    length_too_small,  ///< Negative, or less than the fixed fields need.
    old_magic,         ///< Format 0 or 1: logs may hold them, but since Kafka 4.0 producers may not send them.
    unknown_magic,     ///< Neither 0, 1 nor 2.
    crc_mismatch,
    unknown_codec,           ///< Codec number 5, 6 or 7.
    invalid_record_count,    ///< Negative.
    too_few_records,         ///< The records end before the declared count is reached.
    records_left_over,       ///< Bytes remain behind the declared count of records.
    invalid_record,          ///< A length, a count or a varint inside of a record is invalid.
    invalid_offset_delta,    ///< Not ascending as the mode requires (see `OffsetDeltas`).
    corrupt_compression,     ///< The codec's own format is damaged.
    decompressed_too_large,  ///< The records would exceed the limit for decompression.
};

/// A short English name for logs.
[[nodiscard]] std::string_view batch_error_text(BatchError error);

enum class TimestampType : std::uint8_t { create_time = 0, log_append_time = 1 };

/// The attribute bits of a batch.
struct BatchAttributes {
    static constexpr std::int16_t kCodecMask = 0x07;
    static constexpr std::int16_t kLogAppendTimeBit = 0x08;
    static constexpr std::int16_t kTransactionalBit = 0x10;
    static constexpr std::int16_t kControlBit = 0x20;
    static constexpr std::int16_t kDeleteHorizonBit = 0x40;

    std::int16_t bits = 0;

    [[nodiscard]] std::optional<Codec> codec() const { return codec_from_id(bits & kCodecMask); }
    [[nodiscard]] TimestampType timestamp_type() const {
        return (bits & kLogAppendTimeBit) != 0 ? TimestampType::log_append_time : TimestampType::create_time;
    }
    [[nodiscard]] bool is_transactional() const { return (bits & kTransactionalBit) != 0; }
    [[nodiscard]] bool is_control() const { return (bits & kControlBit) != 0; }
    /// With this bit `base_timestamp` is the time at which a compacted tombstone may go (KIP-534).
    [[nodiscard]] bool has_delete_horizon() const { return (bits & kDeleteHorizonBit) != 0; }
    friend bool operator==(BatchAttributes, BatchAttributes) = default;
};

/// The fixed fields of a batch, by value; it borrows nothing. An entry of format 0 or 1 (legacy_records.h) has one, too, as a
/// batch without producer and epoch: `base_offset` is then the offset of its last record.
struct BatchHeader {
    Offset base_offset{};
    std::int32_t batch_length = 0;
    LeaderEpoch partition_leader_epoch{};
    std::int8_t magic = kCurrentMagic;
    std::uint32_t crc = 0;
    BatchAttributes attributes{};
    std::int32_t last_offset_delta = 0;
    TimestampMs base_timestamp{};
    TimestampMs max_timestamp{};
    ProducerId producer_id = kNoProducerId;
    ProducerEpoch producer_epoch{-1};
    Sequence base_sequence{-1};
    std::int32_t record_count = 0;

    /// The size of the whole batch with its first 12 bytes. For a parsed header of format 2 at least `kBatchHeaderBytes`.
    [[nodiscard]] std::size_t size_bytes() const { return kBatchPrefixBytes + static_cast<std::size_t>(batch_length); }
    [[nodiscard]] Offset last_offset() const;
    /// The offset behind the batch, also when compaction has removed its last records.
    [[nodiscard]] Offset next_offset() const;
    /// False for the formats 0 and 1.
    [[nodiscard]] bool is_current_format() const { return magic == kCurrentMagic; }
    /// False for a compressed entry of format 0 or 1. Its header says neither where its first record lies nor how many it has, so
    /// `base_offset` and `record_count` describe only the last record.
    [[nodiscard]] bool knows_first_offset() const {
        return is_current_format() || (attributes.bits & BatchAttributes::kCodecMask) == 0;
    }
    [[nodiscard]] bool has_producer_id() const { return producer_id.value > kNoProducerId.value; }
    /// Sequence of the last record; wraps from 2^31-1 to 0. -1 without a sequence.
    [[nodiscard]] Sequence last_sequence() const;
    friend bool operator==(const BatchHeader&, const BatchHeader&) = default;
};

/// Reads the fixed fields from the first `kBatchHeaderBytes` of `bytes`; the records may be missing. Errors: truncated (also if
/// fewer than 17 bytes are there, too few for the magic), length_too_small, old_magic, unknown_magic. It checks the magic before
/// the rest, since older formats are shorter. It checks neither checksum nor counts.
[[nodiscard]] std::expected<BatchHeader, BatchError> parse_batch_header(Bytes bytes);

/// A header together with the borrowed bytes of its whole batch.
struct Batch {
    BatchHeader header;
    Bytes bytes;  ///< Exactly `header.size_bytes()`.

    /// The bytes behind the fixed fields: records, compressed or not. Only for format 2.
    [[nodiscard]] Bytes payload() const { return bytes.subspan(kBatchHeaderBytes); }
};

/// The batch at the start of `bytes`; more bytes may follow. Errors as for `parse_batch_header`, and truncated if the batch is
/// incomplete.
[[nodiscard]] std::expected<Batch, BatchError> parse_batch(Bytes bytes);

/// As `parse_batch_header`, for the bytes of a log: also takes entries of the formats 0 and 1, which may be shorter than
/// `kBatchHeaderBytes`. Errors: the same without old_magic.
[[nodiscard]] std::expected<BatchHeader, BatchError> parse_log_header(Bytes bytes);
/// As `parse_batch`, for the bytes of a log.
[[nodiscard]] std::expected<Batch, BatchError> parse_log_batch(Bytes bytes);

/// True if the stored checksum of a whole batch, of any format, is correct. Costs a pass over the bytes.
[[nodiscard]] bool check_crc(const Batch& batch);

/// Walks over consecutive batches, of any format, in a range of a log or of a reply.
///
///     BatchCursor cursor(bytes);
///     while (cursor.next()) use(cursor.batch());
///     if (cursor.error()) ...
///
/// The walk stops without an error at a tail that ends before its batch does, because a fetch reply may end anywhere.
/// Recovery recognises such a torn tail by `position_bytes() < bytes.size()`.
class BatchCursor {
  public:
    explicit BatchCursor(Bytes bytes) : bytes_(bytes) {}

    /// Moves to the next batch; false at the end, at a truncated tail and at an error.
    [[nodiscard]] bool next();
    [[nodiscard]] const Batch& batch() const { return batch_; }
    /// Where the current batch starts.
    [[nodiscard]] std::size_t batch_position_bytes() const { return position_ - batch_.bytes.size(); }
    /// The end of the last complete, well-formed batch.
    [[nodiscard]] std::size_t position_bytes() const { return position_; }
    /// The error that stopped the walk. Empty at the end and at a truncated tail.
    [[nodiscard]] std::optional<BatchError> error() const { return error_; }

  private:
    Bytes bytes_;
    std::size_t position_ = 0;
    Batch batch_{};
    std::optional<BatchError> error_;
};

/// Sets the two fields that the broker chooses on append; both lie outside of the checksum. `batch` starts with a whole header.
void patch_base_offset_and_epoch(MutableBytes batch, Offset base_offset, LeaderEpoch epoch);

/// Sets the timestamp type bit and the max timestamp and recomputes the checksum. The records keep their own deltas, as in Kafka,
/// because with LogAppendTime readers take every record's time from the max timestamp. `batch` is one whole batch.
void patch_max_timestamp(MutableBytes batch, TimestampType type, TimestampMs max_timestamp);

/// A header of a record. The key is never null.
struct RecordHeader {
    std::string_view key;
    std::optional<Bytes> value;
};

/// Reads headers one by one from bytes that a `RecordReader` has checked.
class RecordHeaderRange {
  public:
    RecordHeaderRange() = default;
    RecordHeaderRange(std::int32_t count, Bytes bytes) : count_(count), bytes_(bytes) {}

    [[nodiscard]] std::int32_t count() const { return count_; }
    /// The headers as they lie in the record.
    [[nodiscard]] Bytes bytes() const { return bytes_; }
    /// Moves to the next header; false behind the last one.
    [[nodiscard]] bool next(RecordHeader& header);

  private:
    std::int32_t count_ = 0;
    Bytes bytes_;
    std::int32_t read_ = 0;
    std::size_t position_ = 0;
};

/// One record. Borrows from the batch (uncompressed) or from its reader (compressed, valid until the
/// reader's next step).
struct RecordView {
    std::int8_t attributes = 0;     ///< No bits are defined in format 2.
    std::int32_t offset_delta = 0;  ///< Only in format 2.
    Offset offset{};
    /// The record's time. With LogAppendTime it is the batch's time, whatever the record itself says.
    TimestampMs timestamp{};
    std::optional<Bytes> key;
    std::optional<Bytes> value;
    std::int32_t header_count = 0;
    Bytes header_bytes;
    std::size_t size_bytes = 0;  ///< With its length prefix.

    [[nodiscard]] RecordHeaderRange headers() const { return {header_count, header_bytes}; }
};

enum class OffsetDeltas : std::uint8_t {
    dense,      ///< 0, 1, 2 ... as producers write them.
    ascending,  ///< Strictly ascending up to the last offset delta, with holes, as after compaction.
    any,        ///< Not checked (to see what a client really sent).
};

struct RecordReaderOptions {
    OffsetDeltas offset_deltas = OffsetDeltas::ascending;
    /// 0 stands for `default_decompressed_limit` of the payload.
    std::size_t decompressed_limit_bytes = 0;
};

class LegacyRecordReader;

/// Reads the records of a batch, of any format, in order and checks their form: lengths within the batch, headers within their
/// record, offset deltas as required. There must be exactly as many records as declared, and no bytes behind the last one.
/// Uncompressed records are views into the batch. Others come through a streaming decompressor with a limit, which needs memory
/// for about the largest record. Does not verify the checksum. Allocates nothing per record. For the formats 0 and 1 see
/// LegacyRecordReader.
class RecordReader {
  public:
    /// The batch's bytes must outlive the reader.
    explicit RecordReader(const Batch& batch, RecordReaderOptions options = {});
    ~RecordReader();
    RecordReader(const RecordReader&) = delete;
    RecordReader& operator=(const RecordReader&) = delete;
    RecordReader(RecordReader&&) = delete;
    RecordReader& operator=(RecordReader&&) = delete;

    /// True with a record in `record`, false behind the last one. Errors: invalid_record_count, unknown_codec, too_few_records,
    /// records_left_over, invalid_record, invalid_offset_delta, corrupt_compression, decompressed_too_large. After an error every
    /// call returns the same error.
    [[nodiscard]] std::expected<bool, BatchError> next(RecordView& record);

  private:
    /// The step behind the last record of format 2. Records of other formats all take it.
    [[nodiscard]] std::expected<bool, BatchError> finish(RecordView& record);
    [[nodiscard]] std::unexpected<BatchError> fail(BatchError error);
    [[nodiscard]] bool refill();

    const std::byte* cursor_ = nullptr;
    const std::byte* end_ = nullptr;
    std::int32_t records_left_ = 0;
    std::int32_t next_delta_ = 0;  // Dense: the expected delta. Ascending: the smallest allowed.
    std::int32_t last_offset_delta_ = 0;
    Offset base_offset_{};
    TimestampMs base_timestamp_{};
    TimestampMs max_timestamp_{};
    TimestampType timestamp_type_ = TimestampType::create_time;
    OffsetDeltas deltas_ = OffsetDeltas::ascending;
    std::optional<BatchError> error_;

    /// Only for the formats 0 and 1.
    std::unique_ptr<LegacyRecordReader> legacy_;

    // Only for compressed batches.
    bool at_end_of_stream_ = true;
    std::optional<Decompressor> decompressor_;
    std::vector<std::byte> window_;
};

/// Calls `use(const RecordView&)` for every record. If `use` returns a bool, false stops the walk (a success). Errors as for
/// `RecordReader::next`; `use` has then seen the records before the bad one.
template <class Use>
[[nodiscard]] std::expected<void, BatchError> for_each_record(const Batch& batch, RecordReaderOptions options, Use&& use) {
    RecordReader reader(batch, options);
    RecordView record;
    while (true) {
        PARTITA_TRY_ASSIGN(const auto more, reader.next(record));
        if (!more) {
            return {};
        }
        if constexpr (std::is_same_v<std::invoke_result_t<Use&, const RecordView&>, bool>) {
            if (!use(std::as_const(record))) {
                return {};
            }
        } else {
            use(std::as_const(record));
        }
    }
}

struct TimestampAndOffset {
    TimestampMs timestamp;
    Offset offset;
    friend bool operator==(const TimestampAndOffset&, const TimestampAndOffset&) = default;
};

/// The first record at or after `from_offset` whose time is at or after `target`: the step of ListOffsets that follows the time
/// index. Empty if the batch has none. If the batch's max timestamp is before the target, the header alone gives the answer.
[[nodiscard]] std::expected<std::optional<TimestampAndOffset>, BatchError> find_first_at_or_after(const Batch& batch,
                                                                                                  TimestampMs target,
                                                                                                  Offset from_offset);

/// The batch's max timestamp and the first record that has it (ListOffsets with -3). With LogAppendTime all records have it, so
/// the result is the first one, as in Kafka. Empty if no record has the header's max timestamp, which happens only in a log that
/// other software damaged.
[[nodiscard]] std::expected<std::optional<TimestampAndOffset>, BatchError> find_max_timestamp(const Batch& batch);

}  // namespace partita
