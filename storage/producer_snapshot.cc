#include "storage/producer_snapshot.h"

#include "protocol/assert.h"
#include "protocol/big_endian.h"
#include "protocol/crc32c.h"

namespace partita {
namespace {

constexpr std::int16_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 10;
constexpr std::size_t kCrcCoverageStart = 6;
constexpr std::size_t kEntryBytes = 46;

}  // namespace

std::vector<std::byte> encode_producer_snapshot(const std::vector<ProducerEntry>& entries) {
    std::vector<std::byte> bytes(kHeaderBytes + entries.size() * kEntryBytes);
    store_big_endian(bytes.data(), kVersion);
    store_big_endian(bytes.data() + kCrcCoverageStart, static_cast<std::int32_t>(entries.size()));
    std::byte* at = bytes.data() + kHeaderBytes;
    for (const ProducerEntry& entry : entries) {
        PARTITA_ASSERT(entry.batch_count <= ProducerEntry::kRetainedBatches, "a producer has a bounded number of batches");
        const ProducerBatch newest = entry.batch_count == 0 ? ProducerBatch{} : entry.batches[entry.batch_count - 1];
        store_big_endian(at, entry.producer_id.value);
        store_big_endian(at + 8, entry.producer_epoch.value);
        store_big_endian(at + 10, newest.last_sequence.value);
        store_big_endian(at + 14, newest.last_offset.value);
        store_big_endian(at + 22, newest.offset_delta);
        store_big_endian(at + 26, entry.last_timestamp.value);
        store_big_endian(at + 34, entry.coordinator_epoch);
        store_big_endian(at + 38, entry.current_transaction_start.value);
        at += kEntryBytes;
    }
    PARTITA_ASSERT(at == bytes.data() + bytes.size(), "decode_producer_snapshot looks for as many bytes");
    store_big_endian(bytes.data() + 2, crc32c(Bytes(bytes).subspan(kCrcCoverageStart)));
    return bytes;
}

std::optional<std::vector<ProducerEntry>> decode_producer_snapshot(Bytes bytes) {
    if (bytes.size() < kHeaderBytes) {
        return std::nullopt;
    }
    if (load_big_endian<std::int16_t>(bytes.data()) != kVersion) {
        return std::nullopt;
    }
    if (load_big_endian<std::uint32_t>(bytes.data() + 2) != crc32c(bytes.subspan(kCrcCoverageStart))) {
        return std::nullopt;
    }
    const auto count = load_big_endian<std::int32_t>(bytes.data() + kCrcCoverageStart);
    if (count < 0 || bytes.size() != kHeaderBytes + static_cast<std::size_t>(count) * kEntryBytes) {
        return std::nullopt;
    }
    std::vector<ProducerEntry> entries;
    entries.reserve(static_cast<std::size_t>(count));
    for (const std::byte* at = bytes.data() + kHeaderBytes; at != bytes.data() + bytes.size(); at += kEntryBytes) {
        ProducerEntry entry;
        entry.producer_id = {load_big_endian<std::int64_t>(at)};
        entry.producer_epoch = {load_big_endian<std::int16_t>(at + 8)};
        entry.last_timestamp = {load_big_endian<std::int64_t>(at + 26)};
        entry.coordinator_epoch = load_big_endian<std::int32_t>(at + 34);
        entry.current_transaction_start = {load_big_endian<std::int64_t>(at + 38)};
        const ProducerBatch newest{.last_sequence = {load_big_endian<std::int32_t>(at + 10)},
                                   .offset_delta = load_big_endian<std::int32_t>(at + 22),
                                   .last_offset = {load_big_endian<std::int64_t>(at + 14)},
                                   .timestamp = entry.last_timestamp};
        if (newest.last_offset >= Offset{0}) {
            entry.add_batch(newest);
        }
        entries.push_back(entry);
    }
    return entries;
}

}  // namespace partita
