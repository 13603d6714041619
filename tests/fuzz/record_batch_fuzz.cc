#include <array>
#include <optional>
#include <string>

#include "protocol/big_endian.h"
#include "protocol/compression.h"
#include "protocol/produce_validation.h"
#include "protocol/record_batch.h"
#include "protocol/record_batch_builder.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/legacy_writer.h"

namespace {

using namespace partita;

constexpr std::size_t kLimitBytes = std::size_t{1} << 20;
constexpr std::array kCodecs{Codec::none, Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd};

/// Walks over all records; each must lie inside of the input.
std::optional<std::int32_t> walk(const Batch& batch, OffsetDeltas deltas) {
    std::int32_t records = 0;
    std::size_t bytes = 0;
    std::int64_t greatest_delta = -1;
    std::optional<Offset> last_offset;
    const auto walked = for_each_record(batch, {deltas, kLimitBytes}, [&](const RecordView& record) {
        ++records;
        bytes += record.size_bytes;
        if (!batch.header.is_current_format()) {
            FUZZ_CHECK(record.offset_delta == 0);
            FUZZ_CHECK(deltas == OffsetDeltas::any || !last_offset || record.offset > *last_offset);
            last_offset = record.offset;
        } else if (deltas == OffsetDeltas::dense) {
            FUZZ_CHECK(record.offset_delta == records - 1);
        }
        if (deltas == OffsetDeltas::ascending && batch.header.is_current_format()) {
            FUZZ_CHECK(record.offset_delta > greatest_delta);
        }
        greatest_delta = record.offset_delta;
        std::size_t inside = (record.key ? record.key->size() : 0) + (record.value ? record.value->size() : 0);
        RecordHeaderRange headers = record.headers();
        RecordHeader header;
        std::int32_t header_count = 0;
        while (headers.next(header)) {
            ++header_count;
            inside += header.key.size() + (header.value ? header.value->size() : 0);
        }
        FUZZ_CHECK(header_count == record.header_count);
        FUZZ_CHECK(inside < record.size_bytes);
        (void)parse_end_transaction_marker(record);
    });
    FUZZ_CHECK(bytes <= kLimitBytes || batch.header.attributes.codec() == Codec::none);
    if (!walked) {
        return std::nullopt;
    }
    FUZZ_CHECK(!batch.header.is_current_format() || records == batch.header.record_count);
    return records;
}

void check_batch(const Batch& batch) {
    (void)walk(batch, OffsetDeltas::any);
    const bool ascending = walk(batch, OffsetDeltas::ascending).has_value();
    const bool dense = walk(batch, OffsetDeltas::dense).has_value();
    // Dense deltas that end where the header says ascend as well.
    if (dense && batch.header.last_offset_delta + std::int64_t{1} == batch.header.record_count) {
        FUZZ_CHECK(ascending);
    }
    (void)find_first_at_or_after(batch, {0}, batch.header.base_offset);
    (void)find_max_timestamp(batch);
}

/// Corrects the checksum, since no random change would keep it right, and lets the validator judge.
void check_validation(Bytes input) {
    std::vector<std::byte> bytes(input.begin(), input.end());
    const auto batch = parse_batch(bytes);
    if (!batch) {
        return;
    }
    patch_base_offset_and_epoch(bytes, {0}, {0});
    patch_max_timestamp(MutableBytes(bytes).first(batch->bytes.size()), batch->header.attributes.timestamp_type(),
                        batch->header.max_timestamp);
    ProduceRules rules;
    rules.now = batch->header.max_timestamp;
    rules.decompressed_limit_bytes = kLimitBytes;
    const auto produced = validate_produced_batch(bytes, rules);
    if (!produced) {
        (void)produce_error_message(produced.error(), rules, "t-0");
        return;
    }
    finish_produced_batch(bytes, *produced, {1000}, {1});
    const auto stored = parse_batch(bytes);
    FUZZ_CHECK(stored && check_crc(*stored));
    FUZZ_CHECK(walk(*stored, OffsetDeltas::dense).has_value());
    std::vector<std::byte> repacked;
    FUZZ_CHECK(recompress_batch(*stored, Codec::none, std::nullopt, repacked).has_value());
    const auto plain = parse_batch(repacked);
    FUZZ_CHECK(plain && check_crc(*plain) && walk(*plain, OffsetDeltas::dense).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes input = std::as_bytes(std::span(data, size));
    BatchCursor cursor(input);
    std::size_t position = 0;
    while (cursor.next()) {
        FUZZ_CHECK(cursor.position_bytes() > position && cursor.position_bytes() <= size);
        position = cursor.position_bytes();
        check_batch(cursor.batch());
    }
    check_validation(input);
    for (const Codec codec : kCodecs) {
        std::vector<std::byte> out;
        (void)decompress(codec, input, kLimitBytes, out);
        FUZZ_CHECK(out.size() <= kLimitBytes);
    }
    return 0;
}

std::vector<std::vector<std::byte>> fuzz_seeds() {
    std::vector<std::vector<std::byte>> seeds;
    const RecordHeader headers[] = {{"trace", as_bytes("id")}, {"none", std::nullopt}};
    for (const Codec codec : kCodecs) {
        BatchBuilder builder({.codec = codec, .producer_id = {1}, .producer_epoch = {0}, .base_sequence = {0}});
        for (int index = 0; index < 20; ++index) {
            const std::string value(static_cast<std::size_t>(index) * 9, 'v');
            builder.append({1000 + index}, index % 3 == 0 ? std::nullopt : std::optional(as_bytes("key")),
                           index % 5 == 0 ? std::nullopt : std::optional(as_bytes(value)),
                           index % 4 == 0 ? std::span<const RecordHeader>(headers) : std::span<const RecordHeader>());
        }
        seeds.emplace_back();
        builder.build(seeds.back());
        // The bare compressed stream, for the decoders alone.
        const auto batch = parse_batch(seeds.back());
        const std::vector<std::byte> payload(batch->payload().begin(), batch->payload().end());
        seeds.push_back(payload);
    }
    for (const int magic : {0, 1}) {
        for (const Codec codec : {Codec::none, Codec::gzip, Codec::snappy, Codec::lz4}) {
            seeds.push_back(test::legacy_bytes({.magic = magic, .codec = codec},
                                               {{7, 1000, "k", "v"}, {8, 900, std::nullopt, "w"}, {9, 1000, "k", std::nullopt}}));
        }
    }
    seeds.emplace_back();
    build_end_transaction_marker({ControlRecordType::commit, 3}, {5}, {0}, {1}, {0}, {1000}, seeds.back());
    return seeds;
}
