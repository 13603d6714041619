#include "broker/logs/record_page.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "broker/logs/batch_walk.h"
#include "tests/support/storage_fixture.h"

namespace partita::logs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::int64_t> offsets(const RecordPage& page) {
    std::vector<std::int64_t> offsets;
    for (const FoundRecord& record : page.records) {
        offsets.push_back(record.offset.value);
    }
    return offsets;
}

class RecordPageTest : public ::testing::Test {
  protected:
    void append(const test::TestBatch& wanted) {
        auto batch = test::make_batch(wanted);
        ASSERT_TRUE(log_->append(batch, {.leader_epoch = LeaderEpoch{0}, .now = {1}}).has_value());
    }
    [[nodiscard]] RecordPage read(std::int64_t from, const PageLimits& limits = {}) { return read_at(Offset{from}, limits); }
    [[nodiscard]] RecordPage read_at(const PageStart& start, const PageLimits& limits = {}) {
        auto page = read_page(partition_, start, limits);
        if (!page) {
            ADD_FAILURE() << page.error().message;
            return {};
        }
        return std::move(*page);
    }

    test::StorageWorld world_;
    std::shared_ptr<PartitionLog> log_ = world_.shared_log();
    const Partition partition_{log_, fetch::PartitionKey{1}};
};

TEST_F(RecordPageTest, AnEmptyPartitionHasAnEmptyPage) {
    const RecordPage page = read(0);
    EXPECT_THAT(page.records, IsEmpty());
    EXPECT_EQ(page.next, Offset{0});
    EXPECT_EQ(page.end, Offset{0});
}

TEST_F(RecordPageTest, ARecordIsToldWithAllThatItHas) {
    BatchBuilder builder;
    const std::array<RecordHeader, 2> headers{RecordHeader{"trace", as_bytes("1")}, RecordHeader{"empty", std::nullopt}};
    builder.append({7}, std::nullopt, as_bytes("value"), headers);
    builder.append({8}, as_bytes("key"), std::nullopt);
    std::vector<std::byte> batch;
    builder.build(batch);
    ASSERT_TRUE(log_->append(batch, {.leader_epoch = LeaderEpoch{0}, .now = {1}}).has_value());
    const RecordPage page = read(0);
    ASSERT_THAT(page.records, SizeIs(2));
    EXPECT_EQ(page.records[0].timestamp, TimestampMs{7});
    EXPECT_EQ(page.records[0].key, std::nullopt);
    EXPECT_EQ(page.records[0].value, "value");
    EXPECT_THAT(page.records[0].headers, ElementsAre(std::pair<std::string, std::optional<std::string>>("trace", "1"),
                                                     std::pair<std::string, std::optional<std::string>>("empty", std::nullopt)));
    EXPECT_EQ(page.records[1].key, "key");
    EXPECT_EQ(page.records[1].value, std::nullopt);
}

TEST_F(RecordPageTest, OfAKeyThereAreItsRecordsAloneAndEnoughIsLookedThroughAtATime) {
    for (std::int64_t round = 0; round < 4; ++round) {
        BatchBuilder builder;
        for (const char* key : {"anna", "bert", "anna"}) {
            builder.append({round}, as_bytes(std::string_view(key)), as_bytes("v"));
        }
        builder.append({round}, std::nullopt, as_bytes("v"));
        std::vector<std::byte> batch;
        builder.build(batch);
        ASSERT_TRUE(log_->append(batch, {.leader_epoch = LeaderEpoch{0}, .now = {1}}).has_value());
    }
    RecordPage page = read(0, {.key = "anna"});
    EXPECT_THAT(offsets(page), ElementsAre(0, 2, 4, 6, 8, 10, 12, 14));
    EXPECT_EQ(page.next, Offset{16});
    EXPECT_EQ(page.looked_at, 16U);
    page = read(3, {.records = 2, .key = "anna"});
    EXPECT_THAT(offsets(page), ElementsAre(4, 6));
    EXPECT_EQ(page.next, Offset{8});
    // One batch is enough.
    page = read(0, {.key = "bert", .search_bytes = 1});
    EXPECT_THAT(offsets(page), ElementsAre(1));
    EXPECT_EQ(page.next, Offset{4});
    page = read(0, {.key = "nobody", .search_bytes = 1});
    EXPECT_THAT(page.records, IsEmpty());
    EXPECT_EQ(page.next, Offset{4});
    EXPECT_THAT(read(0, {.key = ""}).records, IsEmpty());
}

TEST_F(RecordPageTest, APageMayBeginAndEndWithinABatchAndTheNextGoesOn) {
    append({.records = 5});
    append({.records = 5, .codec = Codec::gzip});
    const RecordPage first = read(3, {.records = 4});
    EXPECT_THAT(offsets(first), ElementsAre(3, 4, 5, 6));
    EXPECT_EQ(first.next, Offset{7});
    const RecordPage second = read(first.next.value, {.records = 4});
    EXPECT_THAT(offsets(second), ElementsAre(7, 8, 9));
    EXPECT_EQ(second.next, Offset{10});
    EXPECT_EQ(second.end, Offset{10});
}

TEST_F(RecordPageTest, BytesBoundAPageButItsFirstRecordIsGivenAnyway) {
    append({.records = 3, .value_bytes = 1000});
    EXPECT_THAT(offsets(read(0, {.bytes = 1})), ElementsAre(0));
    EXPECT_THAT(offsets(read(0, {.bytes = 2500})), ElementsAre(0, 1));
}

TEST_F(RecordPageTest, MarkersOfTransactionsAreNoRecords) {
    append({.records = 1, .producer_id = {1}, .producer_epoch = {0}, .base_sequence = {0}, .transactional = true});
    std::vector<std::byte> marker;
    build_end_transaction_marker({}, Offset{0}, LeaderEpoch{0}, ProducerId{1}, ProducerEpoch{0}, TimestampMs{1}, marker);
    ASSERT_TRUE(log_->append(marker, {.leader_epoch = LeaderEpoch{0}, .now = {1}}).has_value());
    append({});
    const RecordPage page = read(0);
    EXPECT_THAT(offsets(page), ElementsAre(0, 2));
    EXPECT_EQ(read(1).records.front().offset, Offset{2});
}

TEST_F(RecordPageTest, OffsetsThatThePartitionDoesNotHaveAreOutOfRange) {
    append({.records = 5});
    append({.records = 5});
    ASSERT_TRUE(log_->delete_records_before(Offset{5}).value());
    for (const std::int64_t missing : {0, 4, 11}) {
        const auto page = read_page(partition_, Offset{missing}, {});
        ASSERT_FALSE(page.has_value()) << missing;
        EXPECT_EQ(page.error().outcome, Outcome::offset_out_of_range) << missing;
    }
    EXPECT_EQ(read(5).log_start, Offset{5});
    EXPECT_THAT(read(10).records, IsEmpty());
}

TEST_F(RecordPageTest, WhatIsDamagedIsToldAndLeftOut) {
    append({.records = 1});
    append({.records = 1});
    append({.records = 1});
    // A byte within the records of the second batch.
    const std::vector<std::byte> batch = test::make_batch();
    const std::string path = log_->directory_path() + "/00000000000000000000.log";
    auto file = world_.system.open(path, OpenMode::read_write);
    ASSERT_TRUE(file.has_value());
    const std::array wrong{std::byte{0x7f}};
    const std::array<Bytes, 1> pieces{Bytes(wrong)};
    ASSERT_TRUE((*file)->write_at(2 * batch.size() - 3, pieces).has_value());
    const RecordPage page = read(0);
    EXPECT_THAT(offsets(page), ElementsAre(0, 2));
    ASSERT_THAT(page.damage, SizeIs(1));
    EXPECT_EQ(page.damage[0], (std::pair<Offset, std::string>(Offset{1}, "wrong checksum")));
    EXPECT_EQ(page.next, Offset{3});
}

TEST_F(RecordPageTest, APageBeginsAtTheStartOrAtTheFirstRecordSinceATime) {
    append({.records = 2, .timestamp = {100}});
    append({.records = 2, .timestamp = {200}});
    ASSERT_TRUE(log_->delete_records_before(Offset{1}).value());
    const RecordPage whole = read_at(PartitionStart{});
    EXPECT_EQ(whole.from, Offset{1});
    EXPECT_THAT(offsets(whole), ElementsAre(1, 2, 3));
    const RecordPage later = read_at(TimestampMs{101});
    EXPECT_EQ(later.from, Offset{2});
    EXPECT_THAT(offsets(later), ElementsAre(2, 3));
    const RecordPage future = read_at(TimestampMs{201});
    EXPECT_EQ(future.from, Offset{4}) << "no record is that late";
    EXPECT_EQ(future.next, Offset{4});
    EXPECT_THAT(future.records, IsEmpty());
}

TEST_F(RecordPageTest, ADeletedPartitionHasNoPage) {
    append({});
    ASSERT_TRUE(world_.directory->remove(log_).has_value());
    const auto page = read_page(partition_, Offset{0}, {});
    ASSERT_FALSE(page.has_value());
    EXPECT_EQ(page.error().outcome, Outcome::unknown_partition);
    const auto since = read_page(partition_, TimestampMs{0}, {});
    ASSERT_FALSE(since.has_value());
    EXPECT_EQ(since.error().outcome, Outcome::storage_failed);
}

class CountingVisitor final : public BatchVisitor {
  public:
    bool batch(const Batch&) override { return ++batches < stop_after; }
    void damage(Offset, std::string_view) override { FAIL() << "nothing is damaged"; }

    int batches = 0;
    int stop_after = 1000;
};

TEST_F(RecordPageTest, AWalkReadsBatchesThatAreLargerThanItsBufferAndSaysWhereItEnded) {
    for (int batch = 0; batch < 10; ++batch) {
        append({.records = 2, .value_bytes = 500});
    }
    CountingVisitor all;
    EXPECT_EQ(BatchWalk(1).walk(*log_, Offset{3}, Offset{20}, all), Offset{20});
    EXPECT_EQ(all.batches, 9);
    CountingVisitor some;
    some.stop_after = 4;
    EXPECT_EQ(BatchWalk(700).walk(*log_, Offset{0}, Offset{20}, some), Offset{8});
    EXPECT_EQ(some.batches, 4);
}

}  // namespace
}  // namespace partita::logs
