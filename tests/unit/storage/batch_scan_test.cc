#include "storage/batch_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "protocol/big_endian.h"
#include "tests/support/storage_fixture.h"

namespace partita::test {
namespace {

/// Bytes as a file; notes the largest single read.
class ReadBytes final : public File {
  public:
    explicit ReadBytes(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}

    StorageResult<std::size_t> read_at(std::uint64_t position, MutableBytes destination) override {
        most_read = std::max(most_read, destination.size());
        const std::size_t count =
            std::min<std::size_t>(destination.size(), bytes_.size() - std::min<std::size_t>(position, bytes_.size()));
        if (count > 0) {
            std::memcpy(destination.data(), bytes_.data() + position, count);
        }
        return count;
    }
    StorageResult<void> write_at(std::uint64_t, std::span<const Bytes>) override { return {}; }
    StorageResult<void> truncate(std::uint64_t) override { return {}; }
    StorageResult<void> sync_data() override { return {}; }
    StorageResult<void> write_back(std::uint64_t, std::uint64_t) override { return {}; }
    StorageResult<void> reserve(std::uint64_t, std::uint64_t) override { return {}; }
    StorageResult<std::unique_ptr<FileWindow>> open_window(std::uint64_t, std::uint64_t) override { return nullptr; }
    StorageResult<std::uint64_t> size() override { return bytes_.size(); }
    bool is_cached(std::uint64_t, std::uint64_t) override { return true; }
    void read_ahead(std::uint64_t, std::uint64_t) override {}
    int descriptor() const override { return -1; }

    std::size_t most_read = 0;

  private:
    std::vector<std::byte> bytes_;
};

using Content = std::vector<std::byte>;

void put(Content& content, std::size_t position, const Content& batch) {
    std::ranges::copy(batch, content.begin() + static_cast<std::ptrdiff_t>(position));
}

constexpr std::byte kRubbish{0xa5};

TEST(DamagedTails, AreReadInPiecesHoweverLongTheyAre) {
    const Content batch = make_batch({.value_bytes = 3 * BatchScan::kReadBytes});
    Content content(16 * BatchScan::kReadBytes, kRubbish);
    put(content, 5 * BatchScan::kReadBytes + 17, batch);
    const std::size_t end = content.size();
    ReadBytes file(std::move(content));
    const auto tail = inspect_damaged_tail(file, 100, end, Offset{0});
    ASSERT_TRUE(tail.has_value());
    EXPECT_TRUE(tail->holds_batches);
    EXPECT_FALSE(tail->all_zero);
    EXPECT_LE(file.most_read, BatchScan::kReadBytes);
}

TEST(DamagedTails, ABatchIsFoundWhereverTwoPiecesMeet) {
    const Content batch = make_batch();
    for (const std::byte around : {kRubbish, std::byte{0}}) {
        for (std::size_t at = BatchScan::kReadBytes - batch.size() - 1; at <= BatchScan::kReadBytes + 1; ++at) {
            Content content(BatchScan::kReadBytes + 2 * batch.size(), around);
            put(content, at, batch);
            const std::size_t end = content.size();
            ReadBytes file(std::move(content));
            ASSERT_TRUE(inspect_damaged_tail(file, 0, end, Offset{0})->holds_batches) << at;
        }
    }
}

TEST(DamagedTails, ABatchCountsOnlyWholeAndFromTheExpectedOffsetOn) {
    Content batch = make_batch();
    const auto holds = [](const Content& content, Offset expected) {
        ReadBytes file(content);
        return inspect_damaged_tail(file, 0, content.size(), expected)->holds_batches;
    };
    EXPECT_TRUE(holds(batch, Offset{0}));
    EXPECT_FALSE(holds(batch, Offset{1}));
    EXPECT_FALSE(holds(Content(batch.begin(), batch.end() - 1), Offset{0}));
    batch.back() ^= std::byte{1};
    EXPECT_FALSE(holds(batch, Offset{0}));
}

TEST(DamagedTails, AreZerosOnlyWhenEveryByteIs) {
    for (const std::size_t size :
         {std::size_t{1}, std::size_t{60}, std::size_t{61}, BatchScan::kReadBytes, 3 * BatchScan::kReadBytes + 7}) {
        Content content(size, std::byte{0});
        ReadBytes zeros(content);
        EXPECT_TRUE(inspect_damaged_tail(zeros, 0, size, Offset{0})->all_zero) << size;
        content.back() = kRubbish;
        ReadBytes others(content);
        const auto tail = inspect_damaged_tail(others, 0, size, Offset{0});
        EXPECT_FALSE(tail->all_zero) << size;
        EXPECT_FALSE(tail->holds_batches) << size;
    }
}

TEST(BatchScans, AWrongLengthIsNotReadIntoMemory) {
    Content content = make_batch();
    content.resize(3 * BatchScan::kBelievedBytes, kRubbish);
    store_big_endian(content.data() + 8, static_cast<std::int32_t>(content.size() - kBatchPrefixBytes));
    const std::size_t end = content.size();
    ReadBytes file(std::move(content));
    const auto step = BatchScan(file, 0, end).next();
    ASSERT_TRUE(step.has_value());
    EXPECT_EQ(step->found, BatchScan::Found::bad);
    EXPECT_EQ(step->error, BatchError::crc_mismatch);
    EXPECT_LE(file.most_read, BatchScan::kReadBytes);
}

TEST(BatchScans, ALargeBatchIsReadWhole) {
    const Content batch = make_batch({.value_bytes = BatchScan::kBelievedBytes});
    Content content = batch;
    const Content second = make_batch();
    content.insert(content.end(), second.begin(), second.end());
    const std::size_t end = content.size();
    ReadBytes file(std::move(content));
    BatchScan scan(file, 0, end);
    const auto first = scan.next();
    ASSERT_TRUE(first.has_value());
    ASSERT_EQ(first->found, BatchScan::Found::batch);
    EXPECT_TRUE(std::ranges::equal(first->batch.bytes, batch));
    EXPECT_EQ(scan.next()->position, batch.size());
    EXPECT_EQ(scan.next()->found, BatchScan::Found::end);
}

}  // namespace
}  // namespace partita::test
