// Tests readers of records that the page cache does not have: the broker asks the kernel for the next bytes before it sends them.

#include <gmock/gmock.h>

#include "broker/net/read_ahead.h"
#include "tests/support/broker_process.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/plain_client.h"

namespace partita::test {
namespace {

constexpr std::size_t kValueBytes = 400'000;
constexpr int kRecords = 8;  // More than a step of reading ahead.

class ReadAhead : public ::testing::Test {
  protected:
    void SetUp() override {
        start();
        PlainClient client(broker_->port());
        ASSERT_EQ(client.create_topic("t", 1).error, ErrorCode::none);
        for (int i = 0; i < kRecords; ++i) {
            ASSERT_EQ(client.produce_value("t", 0, std::string(kValueBytes, static_cast<char>('a' + i))).base_offset, i);
        }
    }
    void TearDown() override { broker_.reset(); }
    /// Starts a new broker, which did not write the existing records.
    void restart() {
        ASSERT_TRUE(broker_->stop());
        start();
    }
    void start() {
        broker_.reset();
        broker_ = InProcessBroker::start({.data_directory = data_directory_, .file_system = &files_});
        ASSERT_NE(broker_, nullptr);
    }
    void expect_all_records() {
        PlainClient client(broker_->port());
        const auto records = client.read_all("t", 0);
        ASSERT_TRUE(records.has_value());
        ASSERT_EQ(records->size(), static_cast<std::size_t>(kRecords));
        for (int i = 0; i < kRecords; ++i) {
            EXPECT_EQ((*records)[static_cast<std::size_t>(i)].value, std::string(kValueBytes, static_cast<char>('a' + i))) << i;
        }
    }

    TemporaryDirectory directory_;
    const std::string data_directory_ = directory_ / "data";
    FaultyFileSystem files_;
    std::unique_ptr<InProcessBroker> broker_;
};

TEST_F(ReadAhead, OlderRecordsAreAskedForAheadWithoutGapsAndWithinTheBound) {
    restart();
    files_.make_cold("/t-0/");
    expect_all_records();
    const auto ahead = files_.reads_ahead();
    ASSERT_GE(ahead.size(), 2u) << "one step does not hold the log";
    EXPECT_EQ(ahead.front().position, 0u);
    std::uint64_t end = 0;
    for (const auto& [position, length] : ahead) {
        EXPECT_EQ(position, end);
        EXPECT_GT(length, 0u);
        EXPECT_LE(length, net::ReadAhead::kStepBytes);
        end = position + length;
    }
    EXPECT_LE(end, kRecords * (kValueBytes + 1000) + net::ReadAhead::kBytes);
}

TEST_F(ReadAhead, AReaderThatGoesBackIsReadAheadForAgain) {
    constexpr int kMore = 2 * static_cast<int>(net::ReadAhead::kBytes / kValueBytes);
    PlainClient client(broker_->port());
    for (int i = 0; i < kMore; ++i) {
        ASSERT_GE(client.produce_value("t", 0, std::string(kValueBytes, 'x')).base_offset, 0);
    }
    restart();
    files_.make_cold("/t-0/");
    PlainClient reader(broker_->port());
    ASSERT_TRUE(reader.read_all("t", 0).has_value());
    const std::size_t before = files_.reads_ahead().size();
    ASSERT_TRUE(reader.read_all("t", 0).has_value());
    const auto ahead = files_.reads_ahead();
    ASSERT_GT(ahead.size(), before);
    EXPECT_EQ(ahead[before].position, 0u);
}

TEST_F(ReadAhead, NothingIsAskedForThatThePageCacheHas) {
    restart();
    files_.make_warm("/t-0/");
    expect_all_records();
    EXPECT_GT(files_.cache_questions(), 0);
    EXPECT_THAT(files_.reads_ahead(), testing::IsEmpty());
}

TEST_F(ReadAhead, RecordsThatWereJustWrittenAreNotEvenAskedAbout) {
    files_.make_cold("/t-0/");
    PlainClient client(broker_->port());
    ASSERT_EQ(client.produce_value("t", 0, std::string(kValueBytes, 'z')).base_offset, kRecords);
    const auto records = client.read_all("t", 0, kRecords);
    ASSERT_TRUE(records.has_value());
    ASSERT_EQ(records->size(), 1u);
    EXPECT_EQ(files_.cache_questions(), 0);
}

}  // namespace
}  // namespace partita::test
