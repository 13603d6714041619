#include "broker/insight/local/log_keyed_records.h"

#include <gmock/gmock.h>

#include <map>
#include <vector>

#include "broker/logs/topic_table.h"
#include "tests/support/legacy_writer.h"
#include "tests/support/storage_fixture.h"

namespace partita::insight {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr AppendContext kKeyedContext{.leader_epoch = LeaderEpoch{0}, .now = TimestampMs{1000}};

class KeyedRecordsOfALog : public ::testing::Test {
  protected:
    KeyedRecordsOfALog() {
        topic.partitions.assign(1, std::make_shared<logs::Partition>(world.shared_log(), fetch::PartitionKey{1}));
    }
    void write(const test::TestBatch& batch) {
        auto bytes = test::make_batch(batch);
        ASSERT_TRUE(log().append(bytes, kKeyedContext));
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
        ASSERT_TRUE(log().append(marker, kKeyedContext));
    }
    /// Reads once, and returns the offset where the reading stopped. The offsets of the records are in `offsets`.
    Offset read(LogKeyedRecords& records, std::int64_t from, std::int64_t to) {
        offsets.clear();
        return records.read({0}, Offset{from}, Offset{to}, [&](Offset offset, Bytes key, TimestampMs) {
            EXPECT_EQ(as_text(key), "key");
            offsets.push_back(offset.value);
        });
    }
    Offset read(std::int64_t from, std::int64_t to) {
        LogKeyedRecords records(topic);
        return read(records, from, to);
    }
    [[nodiscard]] PartitionLog& log() { return *topic.partitions.front()->log; }

    test::StorageWorld world;
    logs::TopicState topic;
    std::vector<std::int64_t> offsets;

  private:
    std::map<ProducerId, int> sequences_;
};

TEST_F(KeyedRecordsOfALog, LeaveOutMarkersAndAbortedRecords) {
    write_transaction(ProducerId{1}, 2);
    write_transaction(ProducerId{2}, 2);
    end(ProducerId{1}, ControlRecordType::commit);
    end(ProducerId{2}, ControlRecordType::abort);
    write({.records = 1});
    EXPECT_EQ(read(0, 7), Offset{7});
    EXPECT_THAT(offsets, ElementsAre(0, 1, 6));
    EXPECT_EQ(read(1, 2), Offset{2});
    EXPECT_THAT(offsets, ElementsAre(1)) << "begins and ends within a batch";
}

TEST_F(KeyedRecordsOfALog, StopBeforeAnOpenTransaction) {
    write({.records = 2});
    write_transaction(ProducerId{1}, 3);
    EXPECT_EQ(read(0, 5), Offset{2});
    EXPECT_THAT(offsets, ElementsAre(0, 1));
    EXPECT_EQ(read(2, 5), Offset{2});
    end(ProducerId{1}, ControlRecordType::commit);
    EXPECT_EQ(read(2, 5), Offset{5});
    EXPECT_THAT(offsets, ElementsAre(2, 3, 4));
}

TEST_F(KeyedRecordsOfALog, StopWhenTheBudgetIsUsedUpAndGoOn) {
    for (int batch = 0; batch < 10; ++batch) {
        write({.records = 3, .value_bytes = 1000});
    }
    std::vector<std::int64_t> all;
    int looks = 0;
    for (Offset next{0}; next < Offset{30}; ++looks) {
        LogKeyedRecords records(topic, 4000);
        next = read(records, next.value, 30);
        EXPECT_TRUE(next == Offset{30} || !records.has_budget());
        all.insert(all.end(), offsets.begin(), offsets.end());
    }
    EXPECT_EQ(all.size(), 30U);
    EXPECT_GT(looks, 3);
}

TEST_F(KeyedRecordsOfALog, CostTheirBytesIfTheyAreAborted) {
    for (int number = 0; number < 2000; ++number) {
        write_transaction(ProducerId{1}, 20);
        end(ProducerId{1}, ControlRecordType::abort);
    }
    const Offset last = log().log_end_offset();
    LogKeyedRecords records(topic, 1000);
    const Offset reached = read(records, 0, last.value);
    EXPECT_LT(reached, last);
    EXPECT_FALSE(records.has_budget());
    EXPECT_THAT(offsets, IsEmpty());
    EXPECT_EQ(read(0, last.value), last);
}

TEST_F(KeyedRecordsOfALog, BelowTheLogsStartAreNone) {
    write({.records = 5});
    ASSERT_TRUE(log().delete_records_before(Offset{3}));
    EXPECT_EQ(read(0, 3), Offset{3});
    EXPECT_THAT(offsets, IsEmpty());
    EXPECT_EQ(read(0, 5), Offset{5});
    EXPECT_THAT(offsets, ElementsAre(3, 4));
}

// Answers are cut at the client's limit of bytes, not at batches.
TEST_F(KeyedRecordsOfALog, AnAnswerEndsBehindItsLastWholeBatch) {
    write({.records = 3});
    write({.records = 4});
    const auto whole = static_cast<std::uint32_t>(log().size_bytes());
    const auto first = static_cast<std::uint32_t>(test::make_batch({.records = 3}).size());
    LogKeyedRecords records(topic);
    EXPECT_EQ(records.end_of_answer({0}, Offset{0}, whole), Offset{7});
    EXPECT_EQ(records.end_of_answer({0}, Offset{0}, whole - 1), Offset{3});
    EXPECT_EQ(records.end_of_answer({0}, Offset{1}, first), Offset{3}) << "the first batch is sent whole";
    EXPECT_EQ(records.end_of_answer({0}, Offset{3}, whole - first), Offset{7});
    EXPECT_EQ(records.end_of_answer({1}, Offset{0}, whole), std::nullopt);
}

TEST_F(KeyedRecordsOfALog, AKeyIsFoundByItsOffset) {
    write({.records = 3});
    write({.records = 3});
    LogKeyedRecords records(topic);
    for (std::int64_t offset = 0; offset < 6; ++offset) {
        EXPECT_EQ(records.key_at({0}, Offset{offset}), "key") << offset;
    }
    EXPECT_EQ(records.key_at({0}, Offset{6}), std::nullopt);
}

TEST_F(KeyedRecordsOfALog, AreReadOfOldMessageFormats) {
    std::vector<std::byte> old;
    test::write_legacy({.magic = 0}, {{0, -1, "key", "v"}, {1, -1, std::nullopt, "v"}}, old);
    test::write_legacy({.magic = 1, .codec = Codec::gzip}, {{2, 1000, "key", "v"}, {3, 1000, "key", "v"}, {4, 1000, "key", "v"}},
                       old);
    world.open_with(std::string(as_text(old)));
    topic.partitions.assign(1, std::make_shared<logs::Partition>(world.shared_log(), fetch::PartitionKey{1}));
    EXPECT_EQ(read(0, 5), Offset{5});
    EXPECT_THAT(offsets, ElementsAre(0, 2, 3, 4));
    EXPECT_EQ(read(3, 5), Offset{5});
    EXPECT_THAT(offsets, ElementsAre(3, 4)) << "begins within a compressed entry";
    LogKeyedRecords records(topic);
    EXPECT_EQ(records.key_at({0}, Offset{3}), "key");
    EXPECT_EQ(records.key_at({0}, Offset{1}), std::nullopt);
    EXPECT_EQ(records.end_of_answer({0}, Offset{0}, 1 << 20), Offset{5});
    EXPECT_EQ(records.end_of_answer({0}, Offset{0}, 1), Offset{1});
}

}  // namespace
}  // namespace partita::insight
