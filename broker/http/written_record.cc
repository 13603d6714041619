#include "broker/http/written_record.h"

#include "broker/partitioners/families.h"
#include "protocol/record_batch_builder.h"

namespace partita::http {
namespace {

std::optional<Bytes> bytes_of(const std::optional<std::string>& text) {
    return text ? std::optional(as_bytes(*text)) : std::nullopt;
}

}  // namespace

PartitionIndex place_of(const WrittenRecord& record, std::int32_t partition_count) {
    if (record.partition) {
        return PartitionIndex{static_cast<std::int32_t>(*record.partition)};
    }
    if (!record.key) {
        return PartitionIndex{0};
    }
    return partitioners::partition_of(partitioners::Family::murmur2_pos, as_bytes(*record.key), partition_count);
}

std::vector<std::byte> batch_of(const WrittenRecord& record, TimestampMs now) {
    std::vector<RecordHeader> headers;
    for (const auto& [name, value] : record.headers) {
        headers.push_back({.key = name, .value = bytes_of(value)});
    }
    BatchBuilder builder;
    builder.append(now, bytes_of(record.key), bytes_of(record.value), headers);
    std::vector<std::byte> batch;
    builder.build(batch);
    return batch;
}

}  // namespace partita::http
