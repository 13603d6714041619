// Tests that directories written by Apache Kafka 4.3.1 (tests/golden/segments) are recovered and served.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "protocol/record_batch.h"
#include "storage/log_directory.h"
#include "tests/support/declared_settings.h"
#include "tests/support/tests_directory.h"

namespace partita {
namespace {

class KafkaSegments : public ::testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        const std::filesystem::path golden = test::tests_directory() / "golden/segments";
        path_ = std::filesystem::path(::testing::TempDir()) / ("kafka-segments-" + std::string(GetParam()));
        std::filesystem::remove_all(path_);
        std::filesystem::copy(golden / GetParam(), path_, std::filesystem::copy_options::recursive);
    }
    void TearDown() override { std::filesystem::remove_all(path_); }

    PosixFileSystem system_;
    OpenFiles files_{system_, 4};
    std::filesystem::path path_;
};

TEST_P(KafkaSegments, AreRecoveredAndServedWithEveryCodec) {
    auto directory = LogDirectory::open(system_, files_, path_.string(),
                                        {.default_config = std::make_shared<const LogConfig>(declared_log_config()), .now = {1}});
    ASSERT_TRUE(directory) << directory.error().message;
    EXPECT_EQ((*directory)->open_report().was_clean, std::string(GetParam()) == "clean");
    ASSERT_TRUE((*directory)->open_report().failed.empty());
    ASSERT_EQ((*directory)->open_report().partitions.size(), 1u);
    EXPECT_EQ((*directory)->open_report().partitions[0].cut_bytes, 0u);
    const auto unclaimed = (*directory)->unclaimed();
    ASSERT_EQ(unclaimed.size(), 1u);
    EXPECT_EQ(unclaimed[0].topic, "fixture");
    EXPECT_FALSE(unclaimed[0].topic_id.is_zero());

    auto log = *(*directory)
                    ->claim(std::make_shared<LogTopic>(LogTopic{"fixture", unclaimed[0].topic_id}), PartitionIndex{0},
                            std::make_shared<const LogConfig>(declared_log_config()));
    EXPECT_EQ(log->log_end_offset(), Offset{92});
    EXPECT_EQ(log->last_stable_offset(), Offset{92});
    std::map<Codec, int> records;
    std::vector<TimestampMs> times;
    Offset at{0};
    while (at < log->log_end_offset()) {
        auto slice = log->read(at, {.upper_bound = log->high_watermark(), .minimum_one_batch = true});
        ASSERT_TRUE(slice) << slice.error().message;
        ASSERT_GT(slice->size, 0u);
        std::vector<std::byte> bytes(slice->size);
        ASSERT_TRUE(slice->file->read_at(slice->position, bytes));
        BatchCursor cursor(bytes);
        while (cursor.next()) {
            ASSERT_TRUE(check_crc(cursor.batch()));
            ASSERT_EQ(cursor.batch().header.base_offset, at);
            at = cursor.batch().header.next_offset();
            auto walked = for_each_record(cursor.batch(), {}, [&](const RecordView& record) {
                ++records[*cursor.batch().header.attributes.codec()];
                times.push_back(record.timestamp);
            });
            ASSERT_TRUE(walked);
        }
        ASSERT_FALSE(cursor.error());
    }
    for (const Codec codec : {Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd}) {
        EXPECT_EQ(records[codec], 12);
    }
    EXPECT_EQ(records[Codec::none], 92 - 48);

    for (std::size_t i = 0; i < times.size(); ++i) {
        auto found = log->offset_for_timestamp(times[i], log->high_watermark());
        ASSERT_TRUE(found && *found) << i;
        const auto first = std::ranges::find_if(times, [&](TimestampMs time) { return time >= times[i]; });
        EXPECT_EQ((*found)->offset, Offset{first - times.begin()}) << i;
    }
    const auto producers = log->active_producers();
    EXPECT_EQ(producers.size(), 6u);
    for (const ProducerSummary& producer : producers) {
        EXPECT_EQ(producer.current_transaction_start, kNoOffset);
    }
    ASSERT_TRUE((*directory)->close());
}

INSTANTIATE_TEST_SUITE_P(Kafka, KafkaSegments, ::testing::Values("clean", "killed"));

}  // namespace
}  // namespace partita
