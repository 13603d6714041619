#include "broker/net/idle_processors.h"

#include <gtest/gtest.h>

namespace partita::net {
namespace {

TEST(IdleProcessors, ReadTheSecondNumberOfProcUptime) {
    EXPECT_EQ(IdleProcessors::parse_idle_ms("2825.20 3104.61\n"), 3'104'610);
    EXPECT_EQ(IdleProcessors::parse_idle_ms("0.00 0.05\n"), 50);
}

TEST(IdleProcessors, AnythingElseIsNotAnIdleTime) {
    for (const char* text : {"", "12.34", "12.34 ", "12.34 abc", "12.34 56", "12.34 56.", "12.34 56.7\n", "12.34 56,78"}) {
        EXPECT_EQ(IdleProcessors::parse_idle_ms(text), std::nullopt) << text;
    }
}

TEST(IdleProcessors, TheFirstReadingSaysNothingAndTheNextWhatPassedBetween) {
    IdleProcessors processors;
    EXPECT_EQ(processors.read(Instant{1000}), std::nullopt);
    EXPECT_EQ(processors.read(Instant{1000 + IdleProcessors::kLeastMs - 1}), std::nullopt);
    const auto permille = processors.read(Instant{1000 + IdleProcessors::kLeastMs});
    ASSERT_TRUE(permille);
    EXPECT_GE(*permille, 0);
}

TEST(IdleProcessors, AReadingOfLongAgoIsNoBeginning) {
    IdleProcessors processors;
    EXPECT_EQ(processors.read(Instant{1000}), std::nullopt);
    EXPECT_EQ(processors.read(Instant{1000 + IdleProcessors::kMostMs}), std::nullopt);
    EXPECT_TRUE(processors.read(Instant{1000 + IdleProcessors::kMostMs + IdleProcessors::kLeastMs}));
}

}  // namespace
}  // namespace partita::net
