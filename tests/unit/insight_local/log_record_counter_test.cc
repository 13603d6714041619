#include "broker/insight/local/log_record_counter.h"

#include <gtest/gtest.h>

#include <map>

#include "broker/logs/topic_table.h"
#include "storage/log_cleaner.h"
#include "tests/support/legacy_writer.h"
#include "tests/support/storage_fixture.h"

namespace partita::insight {
namespace {

constexpr KeyOffsets::Secrets kCountsSecrets{{1, 2, 3, 4}};
constexpr AppendContext kCountsContext{.leader_epoch = LeaderEpoch{0}, .now = TimestampMs{1000}};

class CountsOfRecords : public ::testing::Test {
  protected:
    CountsOfRecords() { take_log(); }
    void take_log() { topic.partitions.assign(1, std::make_shared<logs::Partition>(world.shared_log(), fetch::PartitionKey{1})); }
    void write(const test::TestBatch& batch) {
        auto bytes = test::make_batch(batch);
        ASSERT_TRUE(log().append(bytes, kCountsContext));
    }
    void write_transaction(ProducerId producer, int records) {
        write({.records = records,
               .producer_id = producer,
               .producer_epoch = ProducerEpoch{0},
               .base_sequence = Sequence{sequences_[producer]},
               .transactional = true});
        sequences_[producer] += records;
    }
    void end(ProducerId producer, ControlRecordType type) {
        std::vector<std::byte> marker;
        build_end_transaction_marker({.type = type}, Offset{0}, LeaderEpoch{0}, producer, ProducerEpoch{0}, TimestampMs{1000},
                                     marker);
        ASSERT_TRUE(log().append(marker, kCountsContext));
    }
    [[nodiscard]] PartitionLog& log() { return *topic.partitions.front()->log; }
    [[nodiscard]] RecordCount between(std::int64_t from, std::int64_t to) {
        return LogRecordCounter(topic).between({0}, Offset{from}, Offset{to});
    }
    [[nodiscard]] RecordCount all() { return between(0, log().log_end_offset().value); }

    test::StorageWorld world;
    logs::TopicState topic;

  private:
    std::map<ProducerId, int> sequences_;
};

TEST_F(CountsOfRecords, AreOffsetsWhereNoTransactionWas) {
    write({.records = 5});
    write({.records = 5});
    LogRecordCounter counts(topic);
    EXPECT_EQ(counts.between({0}, Offset{2}, Offset{9}), RecordCount{7});
    EXPECT_EQ(counts.between({0}, Offset{9}, Offset{9}), RecordCount{0});
    EXPECT_EQ(counts.bytes_read(), 0U);
}

TEST_F(CountsOfRecords, LeaveOutMarkersAndWhatWasAborted) {
    write_transaction(ProducerId{1}, 3);
    write_transaction(ProducerId{2}, 4);
    end(ProducerId{1}, ControlRecordType::commit);
    end(ProducerId{2}, ControlRecordType::abort);
    write({.records = 2});
    EXPECT_EQ(all(), RecordCount{5});
    EXPECT_EQ(between(1, 11), RecordCount{4}) << "begins within a batch";
    EXPECT_EQ(between(0, 2), RecordCount{2}) << "ends within a batch";
    EXPECT_EQ(between(3, 9), RecordCount{0}) << "what is left is nothing for anybody";
    EXPECT_EQ(between(9, 11), RecordCount{2});
}

TEST_F(CountsOfRecords, AreABoundWhileATransactionIsOpen) {
    write({.records = 2});
    write_transaction(ProducerId{1}, 3);
    EXPECT_EQ(between(0, 2), RecordCount{2});
    EXPECT_EQ(all(), (RecordCount{.records = 5, .is_exact = false}));
    end(ProducerId{1}, ControlRecordType::abort);
    EXPECT_EQ(all(), RecordCount{2});
}

TEST_F(CountsOfRecords, ABatchOfAnyoneBehindAnOpenTransactionStands) {
    write_transaction(ProducerId{1}, 3);
    write({.records = 2});
    EXPECT_EQ(between(3, 5), RecordCount{2});
}

TEST_F(CountsOfRecords, AreThoseOfManySegmentsAndLargeBatches) {
    world.config->segment_bytes = 40'000;
    for (int number = 0; number < 20; ++number) {
        // More than one read returns; a marker ends each transaction.
        write_transaction(ProducerId{1}, 30);
        write({.records = 7, .value_bytes = 2'000});
        end(ProducerId{1}, number % 2 == 0 ? ControlRecordType::commit : ControlRecordType::abort);
    }
    EXPECT_GT(log().segments().size(), 3U);
    EXPECT_EQ(all(), RecordCount{20 * 7 + 10 * 30});
}

TEST_F(CountsOfRecords, BelowTheLogsStartThereAreNone) {
    write({.records = 5});
    write_transaction(ProducerId{1}, 3);
    end(ProducerId{1}, ControlRecordType::commit);
    ASSERT_TRUE(log().delete_records_before(Offset{6}));
    EXPECT_EQ(all(), RecordCount{2});
    ASSERT_TRUE(log().delete_records_before(Offset{9}));
    EXPECT_EQ(all(), RecordCount{0});
}

TEST_F(CountsOfRecords, OfALogOfAnEarlierRunAreCountedForNobodyKnowsWhatEndedThere) {
    write({.records = 5});
    write_transaction(ProducerId{1}, 3);
    end(ProducerId{1}, ControlRecordType::commit);
    topic.partitions.clear();
    world.restart_cleanly();
    take_log();
    EXPECT_EQ(all(), RecordCount{8});
}

TEST_F(CountsOfRecords, AreOffsetsAndABoundOnceTheBudgetIsSpent) {
    constexpr int kTransactions = 200;
    for (int number = 0; number < kTransactions; ++number) {
        write_transaction(ProducerId{1}, 1);
        end(ProducerId{1}, ControlRecordType::commit);
    }
    const Offset last{2 * kTransactions};
    EXPECT_EQ(all(), RecordCount{kTransactions});
    LogRecordCounter counts(topic, 2 * LogRecordCounter::kReadBytes);
    const RecordCount bound = counts.between({0}, Offset{0}, last);
    EXPECT_FALSE(bound.is_exact);
    EXPECT_GT(bound.records, kTransactions);
    EXPECT_LT(bound.records, 2 * kTransactions) << "what was read is counted";
    EXPECT_EQ(counts.bytes_read(), 2 * LogRecordCounter::kReadBytes);
    EXPECT_EQ(counts.between({0}, Offset{0}, last), bound) << "what is known costs nothing";
    EXPECT_EQ(counts.between({0}, Offset{2}, last), (RecordCount{.records = 2 * kTransactions - 2, .is_exact = false}));
}

TEST_F(CountsOfRecords, LeaveOutWhatACleaningTook) {
    world.config->compact = true;
    world.config->segment_bytes = 200;
    // All records have one key.
    for (int number = 0; number < 20; ++number) {
        write({.records = 3});
    }
    ASSERT_EQ(all(), RecordCount{60});
    ASSERT_TRUE(log().clean({.now = TimestampMs{2000}, .key_secrets = kCountsSecrets}));
    const RecordCount left = all();
    EXPECT_TRUE(left.is_exact);
    EXPECT_LT(left.records, 10);
    EXPECT_GT(left.records, 0);
}

TEST_F(CountsOfRecords, OfCompressedEntriesInOldMessageFormatsAreBounds) {
    std::vector<std::byte> old;
    test::write_legacy({.magic = 0}, {{0, -1, "k", "v"}, {1, -1, "k", "v"}}, old);
    test::write_legacy({.magic = 1, .codec = Codec::gzip}, {{2, 1000, "k", "v"}, {3, 1000, "k", "v"}, {4, 1000, "k", "v"}}, old);
    world.open_with(std::string(as_text(old)));
    take_log();
    write_transaction(ProducerId{1}, 1);
    end(ProducerId{1}, ControlRecordType::commit);
    EXPECT_EQ(between(0, 2), RecordCount{2});
    EXPECT_EQ(between(0, 5), (RecordCount{.records = 5, .is_exact = false}));
    EXPECT_EQ(between(3, 7), (RecordCount{.records = 3, .is_exact = false})) << "two of the entry, one behind it";
}

}  // namespace
}  // namespace partita::insight
