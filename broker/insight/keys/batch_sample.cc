#include "broker/insight/keys/batch_sample.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "protocol/try.h"

namespace partita::insight {
namespace {

/// Stands before the bytes of a key, in the byte order of this machine: a sample never leaves it.
struct Entry {
    std::uint32_t record_bytes = 0;
    std::uint32_t offset_delta = 0;
    std::uint32_t key_bytes = 0;
    bool has_key = false;
    bool has_value = false;
};
constexpr std::size_t kUsualEntryBytes = sizeof(Entry) + 16;

}  // namespace

std::expected<BatchSample, BatchError> BatchSample::take(const Batch& batch) {
    BatchSample sample;
    sample.base_offset_ = batch.header.base_offset;
    sample.is_transactional_ = batch.header.attributes.is_transactional();
    if (batch.header.attributes.codec() != Codec::none) {
        sample.is_whole_batch_ = true;
        sample.record_count_ = static_cast<std::size_t>(std::max(0, batch.header.record_count));
        sample.bytes_.assign(batch.bytes.begin(), batch.bytes.end());
        return sample;
    }
    // A client declares the counts, so the reservation follows the bytes that are there.
    const std::size_t possible = std::min<std::size_t>(batch.bytes.size(), kRecordsMax);
    sample.bytes_.reserve(std::min<std::size_t>(static_cast<std::size_t>(std::max(0, batch.header.record_count)), possible) *
                          kUsualEntryBytes);
    const auto read = for_each_record(batch, {}, [&](const RecordView& record) {
        sample.append(record);
        return ++sample.record_count_ < kRecordsMax;
    });
    PARTITA_TRY(read);
    return sample;
}

void BatchSample::append(const RecordView& record) {
    const Bytes key = record.key.value_or(Bytes{});
    const Entry entry{.record_bytes = static_cast<std::uint32_t>(record.size_bytes),
                      .offset_delta = static_cast<std::uint32_t>(record.offset_delta),
                      .key_bytes = static_cast<std::uint32_t>(key.size()),
                      .has_key = record.key.has_value(),
                      .has_value = record.value.has_value()};
    const std::size_t begin = bytes_.size();
    bytes_.resize(begin + sizeof entry + key.size());
    std::memcpy(bytes_.data() + begin, &entry, sizeof entry);
    if (!key.empty()) {
        std::memcpy(bytes_.data() + begin + sizeof entry, key.data(), key.size());
    }
}

SentRecord BatchSample::read(std::size_t& position, PartitionIndex partition) const {
    Entry entry;
    std::memcpy(&entry, bytes_.data() + position, sizeof entry);
    position += sizeof entry;
    const Bytes key(bytes_.data() + position, entry.key_bytes);
    position += entry.key_bytes;
    return {.key = entry.has_key ? std::optional(key) : std::nullopt,
            .has_value = entry.has_value,
            .partition = partition,
            .offset = base_offset_ + entry.offset_delta,
            .size_bytes = entry.record_bytes,
            .transactional_batch = is_transactional_ ? base_offset_ : kNoOffset};
}

}  // namespace partita::insight
