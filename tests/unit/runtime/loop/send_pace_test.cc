// The pace of a slow reply, under a clock that stands still.

#include "broker/runtime/loop/send_pace.h"

#include <gtest/gtest.h>

namespace partita::runtime {
namespace {

/// Sends as much as is allowed, whenever it is, until `bytes` are sent. Returns how long that takes.
std::int64_t time_to_send(std::int64_t bytes_per_s, std::size_t bytes) {
    SendPace pace(bytes_per_s);
    const Instant began{1'000};
    Instant now = began;
    EXPECT_EQ(pace.allowed(now), 0U);
    while (true) {
        const std::size_t piece = std::min(pace.allowed(now), bytes);
        pace.sent(piece);
        bytes -= piece;
        if (bytes == 0) {
            return now - began;
        }
        const Instant next = pace.next(now);
        EXPECT_GT(next, now);
        now = next;
    }
}

TEST(SendPace, BytesLeaveAtTheirRate) {
    EXPECT_EQ(time_to_send(1, 3), 3'000);
    EXPECT_EQ(time_to_send(50, 100), 2'000);
    EXPECT_EQ(time_to_send(100'000, 1'000'000), 10'000);
    EXPECT_EQ(time_to_send(SendPace::kBytesPerSMax, 2'000'000'000), 2'000);
    EXPECT_NEAR(static_cast<double>(time_to_send(333, 1'000)), 3'003, SendPace::kPieceMs);
}

TEST(SendPace, APieceHasTheBytesOfItsTime) {
    SendPace pace(1'000);
    EXPECT_EQ(pace.allowed(Instant{0}), 0U);
    EXPECT_EQ(pace.next(Instant{0}), Instant{SendPace::kPieceMs});
    EXPECT_EQ(pace.allowed(Instant{SendPace::kPieceMs}), 20U);
}

TEST(SendPace, ASenderThatComesLateCatchesUpOnlyALittle) {
    for (const std::int64_t late_ms : {SendPace::kLateMsMax + 1, std::int64_t{1} << 60}) {
        SendPace pace(SendPace::kBytesPerSMax);
        EXPECT_EQ(pace.allowed(Instant{0}), 0U);
        EXPECT_EQ(pace.allowed(Instant{late_ms}), 200'000'000U);
    }
}

TEST(SendPace, BytesThatWereNotSentStayAllowed) {
    SendPace pace(1'000);
    EXPECT_EQ(pace.allowed(Instant{0}), 0U);
    EXPECT_EQ(pace.allowed(Instant{30}), 30U);
    pace.sent(10);
    EXPECT_EQ(pace.allowed(Instant{30}), 20U);
    EXPECT_EQ(pace.allowed(Instant{35}), 25U);
}

}  // namespace
}  // namespace partita::runtime
