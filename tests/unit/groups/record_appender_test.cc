#include "broker/groups/record_appender.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "protocol/record_batch.h"

namespace partita::groups {
namespace {

/// The batch as the tables would encode it.
std::vector<std::byte> batch_by_tables(const std::vector<Record>& records, TimestampMs now) {
    BatchBuilder batch;
    ByteBuffer scratch;
    for (const Record& record : records) {
        const auto encoded = encode_record(record, scratch);
        if (!encoded) {
            continue;
        }
        batch.append(now, encoded->key, encoded->value);
    }
    std::vector<std::byte> bytes;
    batch.build(bytes);
    return bytes;
}

TEST(RecordAppender, WritesTheBytesThatTheTablesGive) {
    std::mt19937_64 chance(1);
    const auto text = [&](std::size_t most) {
        return std::string(chance() % (most + 1), static_cast<char>('a' + chance() % 26));
    };
    const TimestampMs now{1'700'000'000'000};
    for (int round = 0; round < 300; ++round) {
        std::vector<std::string> texts;
        texts.reserve(300);
        std::vector<Record> records;
        for (std::uint64_t count = chance() % 100; count > 0; --count) {
            const std::string_view group = texts.emplace_back(text(200));
            const std::string_view topic = texts.emplace_back(text(249));
            const std::string_view metadata = texts.emplace_back(chance() % 2 == 0 ? "" : text(300));
            const PartitionIndex partition{static_cast<std::int32_t>(chance() % 10'000)};
            if (chance() % 10 == 0) {
                records.push_back(OffsetTombstone{group, topic, partition});
                continue;
            }
            TopicId topic_id;
            if (chance() % 2 == 0) {
                topic_id.bytes[chance() % 16] = static_cast<std::uint8_t>(chance() % 256);
            }
            records.push_back(
                OffsetCommitRecord{.group_id = group,
                                   .topic = topic,
                                   .partition = partition,
                                   .offset = {static_cast<std::int64_t>(chance() >> 1)},
                                   .leader_epoch = {static_cast<std::int32_t>(chance() % 100) - 1},
                                   .metadata = metadata,
                                   .commit_timestamp = now,
                                   .expire_timestamp = chance() % 10 == 0 ? TimestampMs{now.value + 1} : kNoTimestamp,
                                   .topic_id = topic_id});
        }
        BatchBuilder batch;
        ByteBuffer scratch;
        for (const Record& record : records) {
            ASSERT_TRUE(append_record(record, now, scratch, batch));
        }
        std::vector<std::byte> bytes;
        batch.build(bytes);
        ASSERT_EQ(bytes, batch_by_tables(records, now));
    }
}

TEST(RecordAppender, ARecordThatCannotBeWrittenLeavesTheBatchAsItWas) {
    const std::string longest(32'767, 'x');
    const std::string too_long = longest + "x";
    BatchBuilder batch;
    ByteBuffer scratch;
    EXPECT_TRUE(append_record(OffsetCommitRecord{.group_id = longest, .topic = "t"}, {}, scratch, batch));
    EXPECT_FALSE(append_record(OffsetCommitRecord{.group_id = too_long, .topic = "t"}, {}, scratch, batch));
    EXPECT_FALSE(append_record(OffsetCommitRecord{.group_id = "g", .topic = too_long}, {}, scratch, batch));
    EXPECT_FALSE(append_record(OffsetCommitRecord{.group_id = "g", .topic = "t", .metadata = too_long}, {}, scratch, batch));
    EXPECT_EQ(batch.record_count(), 1);
}

}  // namespace
}  // namespace partita::groups
