#include "broker/groups/consumer_protocol.h"

#include <algorithm>
#include <cstdint>

namespace partita::groups {
namespace {

/// Reads big-endian values; `failed` once the bytes do not suffice.
struct MetadataCursor {
    Bytes rest;
    bool failed = false;

    Bytes take(std::size_t size) {
        if (failed || rest.size() < size) {
            failed = true;
            return {};
        }
        Bytes taken = rest.first(size);
        rest = rest.subspan(size);
        return taken;
    }

    std::int16_t int16() {
        const Bytes bytes = take(2);
        return failed ? std::int16_t{0}
                      : static_cast<std::int16_t>((std::to_integer<unsigned>(bytes[0]) << 8) |
                                                  std::to_integer<unsigned>(bytes[1]));
    }

    std::int32_t int32() {
        const Bytes bytes = take(4);
        std::uint32_t value = 0;
        for (const std::byte byte : bytes) {
            value = (value << 8) | std::to_integer<std::uint32_t>(byte);
        }
        return static_cast<std::int32_t>(value);
    }
};

constexpr std::size_t kSmallestTopicBytes = 2;

}  // namespace

std::optional<std::vector<std::string_view>> subscribed_topics(Bytes metadata) {
    MetadataCursor cursor{metadata};
    const std::int16_t version = cursor.int16();
    const std::int32_t count = cursor.int32();
    // The count is believed only as far as there are bytes for it.
    if (cursor.failed || version < 0 || count < 0 ||
        static_cast<std::size_t>(count) > cursor.rest.size() / kSmallestTopicBytes) {
        return std::nullopt;
    }
    std::vector<std::string_view> topics;
    topics.reserve(static_cast<std::size_t>(count));
    for (std::int32_t index = 0; index < count; ++index) {
        const std::int16_t length = cursor.int16();
        if (cursor.failed || length < 0) {
            return std::nullopt;
        }
        topics.push_back(as_text(cursor.take(static_cast<std::size_t>(length))));
    }
    const std::int32_t user_data_length = cursor.int32();
    if (user_data_length > 0) {
        cursor.take(static_cast<std::size_t>(user_data_length));
    }
    if (cursor.failed) {
        return std::nullopt;
    }
    return topics;
}

std::vector<PartitionIndex> assigned_partitions(Bytes assignment, std::string_view topic) {
    MetadataCursor cursor{assignment};
    const std::int16_t version = cursor.int16();
    const std::int32_t topic_count = cursor.int32();
    std::vector<PartitionIndex> partitions;
    // No count is believed: each turn of these loops takes bytes, and ends where there are none.
    for (std::int32_t topic_index = 0; topic_index < topic_count && version >= 0 && !cursor.failed; ++topic_index) {
        const std::int16_t length = cursor.int16();
        const std::string_view name = as_text(cursor.take(static_cast<std::size_t>(std::max<std::int16_t>(0, length))));
        const std::int32_t partition_count = cursor.int32();
        for (std::int32_t index = 0; index < partition_count && !cursor.failed; ++index) {
            const std::int32_t partition = cursor.int32();
            if (!cursor.failed && name == topic) {
                partitions.push_back(PartitionIndex{partition});
            }
        }
    }
    if (cursor.failed) {
        return {};
    }
    std::ranges::sort(partitions);
    const auto repeated = std::ranges::unique(partitions);
    partitions.erase(repeated.begin(), repeated.end());
    return partitions;
}

}  // namespace partita::groups
