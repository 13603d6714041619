#include "broker/groups/consumer_protocol.h"

#include <algorithm>
#include <cstdint>

#include "protocol/cursor.h"

namespace partita::groups {
namespace {

constexpr std::size_t kSmallestTopicBytes = 2;

bool read_text(Cursor& cursor, std::string_view& out) {
    std::int16_t length = 0;
    Bytes bytes;
    if (!cursor.read(length) || length < 0 || !cursor.read_bytes(static_cast<std::size_t>(length), bytes)) {
        return false;
    }
    out = as_text(bytes);
    return true;
}

/// Adds the partitions of the next topic, if it is the wanted one.
bool read_topic(Cursor& cursor, std::string_view wanted, std::vector<PartitionIndex>& partitions) {
    std::string_view name;
    std::int32_t count = 0;
    if (!read_text(cursor, name) || !cursor.read(count)) {
        return false;
    }
    // The count is not believed: each turn takes bytes, and ends where there are none.
    for (std::int32_t index = 0; index < count; ++index) {
        std::int32_t partition = 0;
        if (!cursor.read(partition)) {
            return false;
        }
        if (name == wanted) {
            partitions.push_back(PartitionIndex{partition});
        }
    }
    return true;
}

}  // namespace

std::optional<std::vector<std::string_view>> subscribed_topics(Bytes metadata) {
    Cursor cursor(metadata);
    std::int16_t version = 0;
    std::int32_t count = 0;
    // The count is believed only as far as there are bytes for it.
    if (!cursor.read(version) || !cursor.read(count) || version < 0 || count < 0 ||
        static_cast<std::size_t>(count) > cursor.remaining() / kSmallestTopicBytes) {
        return std::nullopt;
    }
    std::vector<std::string_view> topics(static_cast<std::size_t>(count));
    for (std::string_view& topic : topics) {
        if (!read_text(cursor, topic)) {
            return std::nullopt;
        }
    }
    std::int32_t user_data_length = 0;
    const bool has_user_data =
        cursor.read(user_data_length) && cursor.skip(static_cast<std::size_t>(std::max(user_data_length, 0)));
    return has_user_data ? std::optional(std::move(topics)) : std::nullopt;
}

std::vector<PartitionIndex> assigned_partitions(Bytes assignment, std::string_view topic) {
    Cursor cursor(assignment);
    std::int16_t version = 0;
    std::int32_t topic_count = 0;
    if (!cursor.read(version) || !cursor.read(topic_count) || version < 0) {
        return {};
    }
    std::vector<PartitionIndex> partitions;
    for (std::int32_t index = 0; index < topic_count; ++index) {
        if (!read_topic(cursor, topic, partitions)) {
            return {};
        }
    }
    std::ranges::sort(partitions);
    const auto repeated = std::ranges::unique(partitions);
    partitions.erase(repeated.begin(), repeated.end());
    return partitions;
}

}  // namespace partita::groups
