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

bool read_topic(Cursor& cursor, Holdings& holdings) {
    std::string_view name;
    std::int32_t count = 0;
    if (!read_text(cursor, name) || !cursor.read(count)) {
        return false;
    }
    holdings.begin_topic(name);
    // The count is not trusted: each turn consumes bytes, and the loop ends when they run out.
    for (std::int32_t index = 0; index < count; ++index) {
        std::int32_t partition = 0;
        if (!cursor.read(partition)) {
            return false;
        }
        holdings.add(PartitionIndex{partition});
    }
    holdings.end_topic();
    return true;
}

}  // namespace

std::optional<std::vector<std::string_view>> subscribed_topics(Bytes metadata) {
    Cursor cursor(metadata);
    std::int16_t version = 0;
    std::int32_t count = 0;
    // The count is trusted only as far as there are bytes for it.
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

void Holdings::clear() {
    topics_.clear();
    partitions_.clear();
}

void Holdings::begin_topic(std::string_view name) { topics_.push_back({name, partitions_.size(), 0}); }

void Holdings::add(PartitionIndex partition) {
    partitions_.push_back(partition);
    ++topics_.back().count;
}

void Holdings::end_topic() {
    const auto begin = partitions_.begin() + static_cast<std::ptrdiff_t>(topics_.back().first);
    if (!std::is_sorted(begin, partitions_.end())) {
        std::sort(begin, partitions_.end());
    }
    partitions_.erase(std::unique(begin, partitions_.end()), partitions_.end());
    topics_.back().count = partitions_.size() - topics_.back().first;
}

void read_holdings(Bytes assignment, Holdings& holdings) {
    holdings.clear();
    Cursor cursor(assignment);
    std::int16_t version = 0;
    std::int32_t topic_count = 0;
    if (!cursor.read(version) || !cursor.read(topic_count) || version < 0) {
        return;
    }
    for (std::int32_t index = 0; index < topic_count; ++index) {
        if (!read_topic(cursor, holdings)) {
            holdings.clear();
            return;
        }
    }
}

}  // namespace partita::groups
