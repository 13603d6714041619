// Tests which aborted transactions a reader of committed records is told of.

#include "broker/logs/aborted_in_read.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/support/storage_fixture.h"

namespace partita::logs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AbortedInReadTest : public ::testing::Test {
  protected:
    void append(std::vector<std::byte> batch) {
        ASSERT_TRUE(partition_->log->append(batch, {.leader_epoch = LeaderEpoch{0}, .now = {1}}));
    }
    void abort_one(std::int64_t producer) {
        append(test::make_batch({.producer_id = {producer}, .producer_epoch = {0}, .base_sequence = {0}, .transactional = true}));
        std::vector<std::byte> marker;
        build_end_transaction_marker({ControlRecordType::abort, 0}, {0}, {0}, {producer}, {0}, {1}, marker);
        append(std::move(marker));
    }
    /// Reads the slice at `from` as a read_committed fetch does.
    void read(std::int64_t from, std::uint32_t max_bytes = 1 << 20) {
        read_ = {.partition = partition_, .from = Offset{from}};
        result_ = {};
        result_.last_stable_offset = partition_->log->last_stable_offset();
        auto slice = partition_->log->read(
            Offset{from}, {.upper_bound = result_.last_stable_offset, .max_bytes = max_bytes, .minimum_one_batch = true});
        ASSERT_TRUE(slice);
        result_.slice = std::move(*slice);
    }
    [[nodiscard]] std::vector<std::int64_t> producers() {
        const auto aborted = aborted_in_read(read_, result_);
        EXPECT_TRUE(aborted);
        std::vector<std::int64_t> producers;
        for (const AbortedTransactionSummary& one : aborted.value_or(std::vector<AbortedTransactionSummary>())) {
            producers.push_back(one.producer_id.value);
        }
        return producers;
    }
    void expect_error(Outcome outcome) {
        const auto aborted = aborted_in_read(read_, result_);
        ASSERT_FALSE(aborted);
        EXPECT_EQ(aborted.error(), outcome);
    }

    test::StorageWorld world_;
    std::shared_ptr<Partition> partition_ = std::make_shared<Partition>(world_.shared_log(), fetch::PartitionKey{1});
    Read read_;
    ReadResult result_;
};

TEST_F(AbortedInReadTest, ASliceHasTheTransactionsThatItOverlaps) {
    abort_one(1);
    abort_one(2);
    read(0);
    EXPECT_THAT(producers(), ElementsAre(1, 2));
    read(0, 1);
    EXPECT_THAT(producers(), ElementsAre(1)) << "the first batch alone";
    read(2);
    EXPECT_THAT(producers(), ElementsAre(2));
}

TEST_F(AbortedInReadTest, ACutBatchAtTheEndOfTheSliceDoesNotCount) {
    append(test::make_batch());
    abort_one(1);
    const auto whole = static_cast<std::uint32_t>(test::make_batch().size());
    read(0, whole + 1);
    ASSERT_EQ(result_.slice.size, whole + 1);
    EXPECT_THAT(producers(), IsEmpty());
}

TEST_F(AbortedInReadTest, AnEmptySliceHasNone) {
    abort_one(1);
    read(2);
    EXPECT_EQ(result_.slice.size, 0U);
    EXPECT_THAT(producers(), IsEmpty());
}

TEST_F(AbortedInReadTest, ASliceThatALaterDeletionRemovedIsOutOfRange) {
    abort_one(1);
    abort_one(2);
    read(0);
    ASSERT_TRUE(partition_->log->delete_records_before(Offset{1}).value());
    expect_error(Outcome::offset_out_of_range);
}

TEST_F(AbortedInReadTest, ADeletedPartitionIsUnknown) {
    abort_one(1);
    read(0);
    ASSERT_TRUE(world_.directory->remove(partition_->log));
    expect_error(Outcome::unknown_partition);
}

}  // namespace
}  // namespace partita::logs
