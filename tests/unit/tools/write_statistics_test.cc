// Tests the lines of kafka-producer-perf-test.

#include "broker/tools/write_statistics.h"

#include <gtest/gtest.h>

namespace partita::tools {
namespace {

TEST(WriteStatistics, TheTotalHasSpeedsAndPercentiles) {
    WriteStatistics statistics(100, 5'000, false, 1'000);
    for (int i = 1; i <= 100; ++i) {
        EXPECT_EQ(statistics.add(i, 1024 * 1024, 2'000), "");
    }
    EXPECT_EQ(
        statistics.total_text(3'000),
        "100 records sent, 50.000000 records/sec (50.00 MB/sec), 50.50 ms avg latency, 100.00 ms max latency, 51 ms 50th, 96 ms "
        "95th, 100 ms 99th, 100 ms 99.9th.\n");
}

TEST(WriteStatistics, AnIntervalEndsWithTheRecordBehindIt) {
    WriteStatistics statistics(10, 500, false, 0);
    EXPECT_EQ(statistics.add(2, 0, 499), "");
    EXPECT_EQ(statistics.add(3, 0, 500),
              "2 records sent, 4.0 records/sec (0.00 MB/sec), 2.5 ms avg latency, 3.0 ms max latency.\n");
    statistics.be_silent();
    EXPECT_EQ(statistics.add(3, 0, 2'000), "");
}

TEST(WriteStatistics, SteadyStateIsAnnouncedOnce) {
    WriteStatistics statistics(10, 100, true, 0);
    EXPECT_TRUE(statistics.add(1, 0, 100).starts_with("In steady state.\n1 records sent, "));
    EXPECT_TRUE(statistics.add(1, 0, 200).starts_with("1 records sent, "));
}

TEST(WriteStatistics, NothingWrittenHasNoAverage) {
    WriteStatistics statistics(2, 5'000, false, 0);
    EXPECT_EQ(
        statistics.total_text(10),
        "0 records sent, 0.000000 records/sec (0.00 MB/sec), NaN ms avg latency, 0.00 ms max latency, 0 ms 50th, 0 ms 95th, 0 ms "
        "99th, 0 ms 99.9th.\n");
}

TEST(WriteStatistics, AtMostAMillionLatenciesAreKept) {
    WriteStatistics statistics(3'000'000, 1'000'000, false, 0);
    for (int i = 0; i < 3'000'000; ++i) {
        EXPECT_EQ(statistics.add(i % 6 == 0 ? 10 : 1, 0, 0), "");
    }
    // The latency of each sixth record counts.
    EXPECT_NE(statistics.total_text(1'000).find("2.50 ms avg latency, 10.00 ms max latency, 10 ms 50th"), std::string::npos);
}

}  // namespace
}  // namespace partita::tools
