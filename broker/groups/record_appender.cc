#include "broker/groups/record_appender.h"

#include <cstring>
#include <limits>
#include <string_view>
#include <variant>

#include "broker/groups/record_types.h"
#include "protocol/assert.h"
#include "protocol/big_endian.h"
#include "protocol/try.h"
#include "protocol/varint.h"

namespace partita::groups {
namespace {

constexpr std::size_t kLongestText = std::numeric_limits<std::int16_t>::max();

/// Writes consecutive fields into a buffer that is known to be large enough.
class FieldWriter {
  public:
    explicit FieldWriter(std::byte* at) : at_(at) {}

    template <class Integer>
    FieldWriter& integer(Integer value) {
        store_big_endian(at_, value);
        at_ += sizeof value;
        return *this;
    }
    FieldWriter& varint(std::uint64_t value) {
        at_ = encode_unsigned_varlong(at_, value);
        return *this;
    }
    FieldWriter& raw(const void* bytes, std::size_t count) {
        if (count > 0) {
            std::memcpy(at_, bytes, count);
        }
        at_ += count;
        return *this;
    }
    FieldWriter& text(std::string_view text) {
        return integer(static_cast<std::int16_t>(text.size())).raw(text.data(), text.size());
    }

    [[nodiscard]] const std::byte* end() const { return at_; }

  private:
    std::byte* at_;
};

bool can_be_written_in_place(const OffsetCommitRecord& record) {
    // A commit with an expiry of its own needs an older version of the value, and the encoder refuses texts that are too long.
    return record.expire_timestamp == kNoTimestamp && record.group_id.size() <= kLongestText &&
           record.topic.size() <= kLongestText && record.metadata.size() <= kLongestText;
}

/// OffsetCommitKey version 0 and OffsetCommitValue version 4, in the layout of their tables.
void write_in_place(const OffsetCommitRecord& record, TimestampMs timestamp, BatchBuilder& batch) {
    constexpr std::size_t kKeyBytes = sizeof(kOffsetCommitType) + 2 * sizeof(std::int16_t) + sizeof(std::int32_t);
    constexpr std::size_t kValueBytes = sizeof(kOffsetCommitVersion) + 2 * sizeof(std::int64_t) + sizeof(std::int32_t);
    constexpr std::size_t kNoTagsBytes = 1;
    constexpr std::size_t kTopicIdTagBytes = 3 + sizeof(Uuid);  // Count of tags, tag, size, the id.
    constexpr std::uint64_t kTopicIdTag = 0;

    const bool has_topic_id = !record.topic_id.is_zero();
    const std::uint64_t metadata_length = record.metadata.size() + 1;
    const std::size_t key_bytes = kKeyBytes + record.group_id.size() + record.topic.size();
    const std::size_t value_bytes = kValueBytes + unsigned_varlong_size(metadata_length) + record.metadata.size() +
                                    (has_topic_id ? kTopicIdTagBytes : kNoTagsBytes);
    const BatchBuilder::Places places = batch.append_in_place(timestamp, key_bytes, value_bytes);
    FieldWriter key(places.key);
    key.integer(kOffsetCommitType).text(record.group_id).text(record.topic).integer(record.partition.value);
    PARTITA_ASSERT(key.end() == places.key + key_bytes, "the key fills the room that was asked for");
    FieldWriter value(places.value);
    value.integer(kOffsetCommitVersion)
        .integer(record.offset.value)
        .integer(record.leader_epoch.value)
        .varint(metadata_length)
        .raw(record.metadata.data(), record.metadata.size())
        .integer(record.commit_timestamp.value);
    if (has_topic_id) {
        value.varint(1).varint(kTopicIdTag).varint(sizeof(Uuid)).raw(&record.topic_id, sizeof(Uuid));
    } else {
        value.varint(0);
    }
    PARTITA_ASSERT(value.end() == places.value + value_bytes, "the value fills the room that was asked for");
}

}  // namespace

std::expected<void, EncodeError> append_record(const Record& record, TimestampMs timestamp, ByteBuffer& scratch,
                                               BatchBuilder& batch) {
    if (const auto* commit = std::get_if<OffsetCommitRecord>(&record); commit != nullptr && can_be_written_in_place(*commit)) {
        write_in_place(*commit, timestamp, batch);
        return {};
    }
    PARTITA_TRY_ASSIGN(const auto encoded, encode_record(record, scratch));
    batch.append(timestamp, encoded.key, encoded.value);
    return {};
}

}  // namespace partita::groups
