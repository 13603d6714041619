#include "broker/addons/capacity/core/call_pacer.h"

#include <gtest/gtest.h>

#include <string>

namespace partita::capacity {
namespace {

TEST(CallPacer, FourCallsASecondWaitForNothing) {
    CallPacer pacer;
    for (std::int64_t now = 0; now < 20'000; now += 250) {
        EXPECT_EQ(pacer.call("g t 0", 4, Instant{now}), 0) << now;
    }
}

TEST(CallPacer, TheFifthCallAtOnceWaitsForAQuarterOfASecond) {
    CallPacer pacer;
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(pacer.call("g t 0", 4, Instant{0}), 0);
    }
    EXPECT_EQ(pacer.call("g t 0", 4, Instant{0}), 250);
    EXPECT_EQ(pacer.call("g t 0", 4, Instant{0}), 500);
    EXPECT_EQ(pacer.call("g t 0", 4, Instant{500}), 250);
}

TEST(CallPacer, ACallerThatWaitsIsHeldToTheRateOverTenSeconds) {
    CallPacer pacer;
    int calls = 0;
    for (std::int64_t now = 0; now < 10'000;) {
        now += pacer.call("g t 0", 4, Instant{now});
        ++calls;
    }
    EXPECT_NEAR(calls, 44, 1);
}

TEST(CallPacer, KeysDoNotWaitForEachOther) {
    CallPacer pacer;
    for (int i = 0; i < 5; ++i) {
        (void)pacer.call("g t 0", 4, Instant{0});  // Only a later call matters here.
    }
    EXPECT_EQ(pacer.call("g t 1", 4, Instant{0}), 0);
}

TEST(CallPacer, NobodyWaitsLongerThanTheMaximumAndSuchCallsAreNotCounted) {
    CallPacer pacer;
    for (int i = 0; i < 1'000; ++i) {
        EXPECT_LE(pacer.call("g t 0", 4, Instant{0}), CallPacer::kWaitMsMax);
    }
    EXPECT_EQ(pacer.call("g t 0", 4, Instant{CallPacer::kWaitMsMax}), 250);
}

TEST(CallPacer, WithoutALimitNothingIsKept) {
    CallPacer pacer;
    EXPECT_EQ(pacer.call("g t 0", 0, Instant{0}), 0);
    EXPECT_EQ(pacer.call("g t 0", -1, Instant{0}), 0);
    EXPECT_EQ(pacer.key_count(), 0);
}

TEST(CallPacer, ForgetsTheKeyThatWasCalledLeastRecentlyWhenThereAreTooMany) {
    CallPacer pacer;
    for (int call = 0; call < 2; ++call) {
        EXPECT_EQ(pacer.call("first", 1, Instant{0}), call * 1'000);
        EXPECT_EQ(pacer.call("second", 1, Instant{0}), call * 1'000);
    }
    EXPECT_EQ(pacer.call("first", 1, Instant{0}), 2'000);
    for (std::size_t i = 2; i < CallPacer::kKeysMax + 1; ++i) {
        EXPECT_EQ(pacer.call("key " + std::to_string(i), 1, Instant{0}), 0);
    }
    EXPECT_EQ(pacer.key_count(), CallPacer::kKeysMax);
    EXPECT_EQ(pacer.call("first", 1, Instant{0}), 3'000);
    EXPECT_EQ(pacer.call("second", 1, Instant{0}), 0);
}

TEST(CallPacer, AClockThatGoesBackGivesNothing) {
    CallPacer pacer;
    EXPECT_EQ(pacer.call("g t 0", 1, Instant{10'000}), 0);
    EXPECT_EQ(pacer.call("g t 0", 1, Instant{0}), 1'000);
    EXPECT_EQ(pacer.call("g t 0", 1, Instant{1'000}), 1'000);
}

}  // namespace
}  // namespace partita::capacity
