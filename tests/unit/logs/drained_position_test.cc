#include "broker/logs/drained_position.h"

#include <gtest/gtest.h>

#include "storage/log_markers.h"
#include "tests/support/legacy_writer.h"
#include "tests/support/storage_fixture.h"

namespace partita::runtime {
namespace {

class DrainedPosition : public ::testing::Test {
  protected:
    static constexpr ProducerId kProducer{7};

    void append(const test::TestBatch& batch) { append_bytes(test::make_batch(batch)); }
    void append_bytes(std::vector<std::byte> batch) {
        ASSERT_TRUE(log.append(batch, {.leader_epoch = LeaderEpoch{0}, .now = TimestampMs{1000}}).has_value());
    }
    void append_transaction(Sequence sequence) {
        append({.records = 3,
                .producer_id = kProducer,
                .producer_epoch = ProducerEpoch{0},
                .base_sequence = sequence,
                .transactional = true});
    }
    void end_transaction(ControlRecordType type) {
        std::vector<std::byte> marker;
        build_end_transaction_marker({.type = type}, log.log_end_offset(), LeaderEpoch{0}, kProducer, ProducerEpoch{0},
                                     TimestampMs{1000}, marker);
        append_bytes(std::move(marker));
    }
    [[nodiscard]] std::int64_t next(std::int64_t from, bool read_committed = false) const {
        return logs::first_deliverable(log, Offset{from}, read_committed).value;
    }

    test::StorageWorld world;
    PartitionLog& log = world.log();
};

TEST_F(DrainedPosition, OfAnEmptyLogIsItsEnd) { EXPECT_EQ(next(0), 0); }

TEST_F(DrainedPosition, IsTheCommitWhileRecordsFollow) {
    append({.records = 5});
    append({.records = 5});
    EXPECT_EQ(next(0), 0);
    EXPECT_EQ(next(3), 3);
    EXPECT_EQ(next(7), 7);
    EXPECT_EQ(next(10), 10);
}

TEST_F(DrainedPosition, PassesTransactionMarkers) {
    append_transaction(Sequence{0});
    end_transaction(ControlRecordType::commit);
    EXPECT_EQ(next(2), 2);
    EXPECT_EQ(next(3), 4);
    append({.records = 1});
    EXPECT_EQ(next(3), 4);
}

TEST_F(DrainedPosition, PassesAbortedRecordsForThoseWhoReadCommitted) {
    append_transaction(Sequence{0});
    end_transaction(ControlRecordType::abort);
    EXPECT_EQ(next(0, true), 4);
    EXPECT_EQ(next(0, false), 0);
    append_transaction(Sequence{3});
    end_transaction(ControlRecordType::commit);
    EXPECT_EQ(next(0, true), 4);
}

TEST_F(DrainedPosition, EndsWhereAnOpenTransactionBegins) {
    append({.records = 2});
    append_transaction(Sequence{0});
    EXPECT_EQ(next(2, true), 2);
    EXPECT_EQ(next(2, false), 2);
    EXPECT_EQ(logs::DrainedPositions().first_deliverable(log, Offset{2}), Offset{2});
}

TEST_F(DrainedPosition, OfManyGroupsPassesAbortedRecords) {
    append_transaction(Sequence{0});
    end_transaction(ControlRecordType::abort);
    EXPECT_EQ(logs::DrainedPositions().first_deliverable(log, Offset{0}), Offset{4});
}

TEST_F(DrainedPosition, StartsWhereTheLogDoes) {
    append({.records = 5});
    ASSERT_TRUE(log.delete_records_before(Offset{3}).has_value());
    EXPECT_EQ(next(0), 3);
    ASSERT_TRUE(log.delete_records_before(Offset{5}).has_value());
    EXPECT_EQ(next(0), 5);
}

TEST_F(DrainedPosition, LooksPastManyMarkersWithinItsBound) {
    append({.records = 1});
    std::size_t bytes = 0;
    while (bytes < 2 * logs::kDrainedScanBytesMax) {
        std::vector<std::byte> marker;
        build_end_transaction_marker({.type = ControlRecordType::commit}, log.log_end_offset(), LeaderEpoch{0}, kProducer,
                                     ProducerEpoch{0}, TimestampMs{1000}, marker);
        bytes += marker.size();
        append_bytes(std::move(marker));
    }
    const std::int64_t reached = next(1);
    EXPECT_GT(reached, 1000);
    // Records behind the bound count as deliverable.
    EXPECT_LT(reached, log.log_end_offset().value);
}

TEST_F(DrainedPosition, OfManyGroupsReadsWhatLiesBetweenThemOnce) {
    append({.records = 1});
    constexpr int kTransactions = 200;
    for (int index = 0; index < kTransactions; ++index) {
        // There are only markers: nothing is left of a record that is gone.
        end_transaction(ControlRecordType::commit);
    }
    const Offset end = log.high_watermark();
    logs::DrainedPositions drained;
    std::size_t after_first = 0;
    for (std::int64_t from = 1; from < end.value; ++from) {
        EXPECT_EQ(drained.first_deliverable(log, Offset{from}), end);
        after_first = after_first == 0 ? drained.bytes_read() : after_first;
    }
    EXPECT_GT(after_first, 0U);
    EXPECT_EQ(drained.bytes_read(), after_first);
    EXPECT_EQ(drained.first_deliverable(log, Offset{0}), Offset{0});
}

TEST_F(DrainedPosition, OfManyGroupsReadsNothingWhereNoTransactionEnded) {
    append({.records = 5});
    logs::DrainedPositions drained;
    EXPECT_EQ(drained.first_deliverable(log, Offset{2}), Offset{2});
    append_transaction(Sequence{0});
    EXPECT_EQ(drained.first_deliverable(log, Offset{3}), Offset{3});
    EXPECT_EQ(drained.bytes_read(), 0U);
    end_transaction(ControlRecordType::abort);
    append({.records = 1});
    EXPECT_EQ(drained.first_deliverable(log, Offset{9}), Offset{9});
    EXPECT_EQ(drained.bytes_read(), 0U) << "it ended below";
    EXPECT_EQ(drained.first_deliverable(log, Offset{5}), Offset{9});
    EXPECT_GT(drained.bytes_read(), 0U);
}

TEST_F(DrainedPosition, OfManyLogsHasOneBudget) {
    append_transaction(Sequence{0});
    end_transaction(ControlRecordType::abort);
    PartitionLog& other = world.log(1);
    std::vector<std::byte> marker;
    build_end_transaction_marker({.type = ControlRecordType::commit}, Offset{0}, LeaderEpoch{0}, kProducer, ProducerEpoch{0},
                                 TimestampMs{1000}, marker);
    ASSERT_TRUE(other.append(marker, {.leader_epoch = LeaderEpoch{0}, .now = TimestampMs{1000}}).has_value());
    logs::DrainedPositions drained(logs::DrainedPositions::kLookBytes);
    EXPECT_EQ(drained.first_deliverable(log, Offset{0}), Offset{4});
    EXPECT_EQ(drained.bytes_read(), logs::DrainedPositions::kLookBytes);
    EXPECT_EQ(drained.first_deliverable(other, Offset{0}), Offset{0}) << "the budget is spent";
    EXPECT_EQ(drained.first_deliverable(log, Offset{1}), Offset{4}) << "what is known costs nothing";
    EXPECT_EQ(drained.bytes_read(), logs::DrainedPositions::kLookBytes);
}

TEST_F(DrainedPosition, OfALogOfAnEarlierRunIsReadForNobodyKnowsWhatEndedThere) {
    append_transaction(Sequence{0});
    end_transaction(ControlRecordType::commit);
    world.restart_cleanly();
    PartitionLog& again = world.log();
    EXPECT_EQ(markers_end(again), Offset{4});
    EXPECT_EQ(logs::DrainedPositions().first_deliverable(again, Offset{3}), Offset{4});
}

TEST_F(DrainedPosition, OfManyGroupsIsReadOnceHoweverOftenItIsAskedFor) {
    append_transaction(Sequence{0});
    end_transaction(ControlRecordType::abort);
    std::vector<std::byte> marker;
    build_end_transaction_marker({.type = ControlRecordType::commit}, Offset{0}, LeaderEpoch{0}, kProducer, ProducerEpoch{0},
                                 TimestampMs{1000}, marker);
    PartitionLog& other = world.log(1);
    ASSERT_TRUE(other.append(marker, {.leader_epoch = LeaderEpoch{0}, .now = TimestampMs{1000}}).has_value());
    logs::DrainedPositions drained;
    EXPECT_EQ(drained.first_deliverable(log, Offset{0}), Offset{4});
    EXPECT_EQ(drained.first_deliverable(other, Offset{0}), Offset{1});
    const std::size_t once = drained.bytes_read();
    EXPECT_EQ(drained.first_deliverable(log, Offset{0}), Offset{4});
    EXPECT_EQ(drained.first_deliverable(other, Offset{0}), Offset{1});
    EXPECT_EQ(drained.bytes_read(), once);
}

TEST(DrainedPositionOfOldFormats, IsTheCommitAlsoWithinACompressedEntry) {
    std::vector<std::byte> old;
    test::write_legacy({.magic = 0}, {{0, -1, "k", "v"}}, old);
    test::write_legacy({.magic = 1, .codec = Codec::gzip}, {{1, 1000, "k", "v"}, {2, 1000, "k", "v"}, {3, 1000, "k", "v"}}, old);
    test::StorageWorld world;
    world.open_with(std::string(as_text(old)));
    for (const std::int64_t commit : {0, 1, 2, 3, 4}) {
        EXPECT_EQ(logs::first_deliverable(world.log(), Offset{commit}, true), Offset{commit});
    }
}

}  // namespace
}  // namespace partita::runtime
