// Tests that writes to many logs at once, which go through windows of their files, survive kill -9 once acknowledged. Zeros
// behind the records stay only for a short time.

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "storage/segment.h"
#include "storage/write_breadth.h"
#include "tests/support/broker_process.h"
#include "tests/support/plain_client.h"
#include "tests/support/transactional_client.h"

namespace partita::test {
namespace {

constexpr int kPartitionsOfEach = static_cast<int>(kManyLogs) + 6;
/// Each transaction writes one marker to each partition, at once.
constexpr int kTransactions = Segment::kWritesBeforeWindow + 4;

std::uintmax_t log_bytes(const TemporaryDirectory& directory) {
    return std::filesystem::file_size(directory / "wide-0/00000000000000000000.log");
}

/// All values have one length.
std::string value_of(int transaction) { return "value " + std::to_string(1000 + transaction); }

void run_transactions(TransactionalClient& producer, int from, int count) {
    for (int i = from; i < from + count; ++i) {
        for (int partition = 0; partition < kPartitionsOfEach; ++partition) {
            ASSERT_EQ(producer.write("wide", partition, value_of(i)), ErrorCode::none);
        }
        ASSERT_EQ(producer.end(true), ErrorCode::none);
    }
}

/// Expects the record of each transaction, and its marker behind it.
void expect_transactions(std::uint16_t port, int count) {
    PlainClient reader(port);
    for (int partition = 0; partition < kPartitionsOfEach; ++partition) {
        const auto records = reader.read_all("wide", partition);
        ASSERT_TRUE(records) << partition;
        ASSERT_EQ(records->size(), static_cast<std::size_t>(2 * count)) << partition;
        for (int i = 0; i < count; ++i) {
            EXPECT_EQ((*records)[static_cast<std::size_t>(2 * i)].value, value_of(i));
            EXPECT_EQ((*records)[static_cast<std::size_t>(2 * i)].offset, 2 * i);
        }
        EXPECT_EQ(reader.list_offset("wide", partition, -1), 2 * count);
    }
}

TEST(WindowedWrites, SurviveAKillAndLeaveNoZerosForLong) {
    const TemporaryDirectory data;
    auto broker = BrokerProcess::start({.data_directory = data.path()});
    ASSERT_TRUE(broker);
    ASSERT_EQ(PlainClient(broker->port()).create_topic("wide", kPartitionsOfEach).error, ErrorCode::none);
    {
        TransactionalClient producer(broker->port(), "wide-producer");
        ASSERT_EQ(producer.begin(), ErrorCode::none);
        run_transactions(producer, 0, kTransactions);
    }
    broker->send_signal(SIGKILL);
    (void)broker->wait();
    const std::uintmax_t killed_bytes = log_bytes(data);

    broker = BrokerProcess::start({.data_directory = data.path()});
    ASSERT_TRUE(broker);
    const std::uintmax_t cut_bytes = log_bytes(data);
    // The file has only the records when there was no window: on a file system that is not trusted with one, or on a machine so
    // slow that few writes came between two syncs.
    EXPECT_GE(killed_bytes, cut_bytes);
    EXPECT_LE(killed_bytes, cut_bytes + 2 * Segment::kWindowPaddingBytes);
    expect_transactions(broker->port(), kTransactions);

    TransactionalClient producer(broker->port(), "wide-producer");
    ASSERT_EQ(producer.begin(), ErrorCode::none);
    run_transactions(producer, kTransactions, kTransactions);
    EXPECT_TRUE(eventually([&] { return log_bytes(data) == 2 * cut_bytes; }))
        << "the second transactions are as long as the first";
    expect_transactions(broker->port(), 2 * kTransactions);
    EXPECT_EQ(broker->stop().exit_code, 0);
}

}  // namespace
}  // namespace partita::test
