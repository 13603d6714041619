#include "broker/insight/local/log_record_fates.h"

#include <gtest/gtest.h>

#include "broker/logs/topic_table.h"
#include "storage/log_cleaner.h"
#include "tests/support/storage_fixture.h"

namespace partita::insight {
namespace {

constexpr KeyOffsets::Secrets kFatesSecrets{{1, 2, 3, 4}};
constexpr AppendContext kFatesContext{.leader_epoch = LeaderEpoch{0}, .now = TimestampMs{1000}};

class FatesOfRecords : public ::testing::Test {
  protected:
    FatesOfRecords() {
        world.config->compact = true;
        world.config->segment_bytes = 200;
        topic.partitions.push_back(std::make_shared<logs::Partition>(world.shared_log(), fetch::PartitionKey{1}));
    }
    void write(ProducerId producer, int sequence) {
        auto bytes = test::make_batch({.producer_id = producer,
                                       .producer_epoch = ProducerEpoch{0},
                                       .base_sequence = Sequence{sequence},
                                       .transactional = true});
        ASSERT_TRUE(world.log().append(bytes, kFatesContext));
    }
    void write_plain() {
        auto bytes = test::make_batch();
        ASSERT_TRUE(world.log().append(bytes, kFatesContext));
    }
    void end(ProducerId producer, ControlRecordType type) {
        std::vector<std::byte> marker;
        build_end_transaction_marker({.type = type}, Offset{0}, LeaderEpoch{0}, producer, ProducerEpoch{0}, TimestampMs{1000},
                                     marker);
        ASSERT_TRUE(world.log().append(marker, kFatesContext));
    }
    [[nodiscard]] RecordFate fate(std::int64_t offset) const { return LogRecordFates(topic).of({0}, Offset{offset}); }

    test::StorageWorld world;
    logs::TopicState topic;
};

TEST_F(FatesOfRecords, AreThoseOfTheirTransactions) {
    write(ProducerId{1}, 0);
    write(ProducerId{2}, 0);
    write_plain();
    EXPECT_EQ(fate(0), RecordFate::undecided);
    EXPECT_EQ(fate(2), RecordFate::stands) << "its producer has no transaction, whatever stands in front of it";
    end(ProducerId{1}, ControlRecordType::abort);
    EXPECT_EQ(fate(0), RecordFate::aborted);
    EXPECT_EQ(fate(1), RecordFate::undecided);
    end(ProducerId{2}, ControlRecordType::commit);
    EXPECT_EQ(fate(0), RecordFate::aborted);
    EXPECT_EQ(fate(1), RecordFate::stands);
}

// The next batch may come from any producer.
TEST_F(FatesOfRecords, OfABatchThatTheCleanerTookAreNotThoseOfTheNextBatch) {
    write(ProducerId{1}, 0);
    write(ProducerId{2}, 0);
    end(ProducerId{1}, ControlRecordType::abort);
    end(ProducerId{2}, ControlRecordType::commit);
    // The cleaner keeps the newest batch of a producer, if only its header.
    write(ProducerId{1}, 1);
    end(ProducerId{1}, ControlRecordType::commit);
    for (int number = 0; number < 20; ++number) {
        write_plain();
    }
    ASSERT_EQ(fate(0), RecordFate::aborted);
    ASSERT_TRUE(world.log().clean({.now = TimestampMs{2000}, .key_secrets = kFatesSecrets}));
    const auto slice = world.log().read(Offset{0}, {.upper_bound = world.log().high_watermark(), .minimum_one_batch = true});
    ASSERT_TRUE(slice);
    ASSERT_EQ(slice->base_offset, Offset{1}) << "the cleaner took the batch";
    EXPECT_EQ(fate(0), RecordFate::aborted);
    EXPECT_EQ(fate(1), RecordFate::stands);
}

}  // namespace
}  // namespace partita::insight
