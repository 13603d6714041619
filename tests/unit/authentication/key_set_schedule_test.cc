#include "broker/authentication/key_set_schedule.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace partita::authentication {
namespace {

constexpr Instant kBegin{1'000'000};

KeySetSchedule schedule() {
    return {{.url = "", .refresh_ms = 3'600'000, .retry_ms_min = 100, .retry_ms_max = 1'000, .tls = {}}, kBegin};
}

TEST(KeySetSchedule, ASetIsFetchedAgainWhenItsTimeIsOver) {
    KeySetSchedule fetches = schedule();
    EXPECT_EQ(fetches.next_fetch(), kBegin + 3'600'000);
    fetches.fetched(kBegin + 3'600'500);
    EXPECT_EQ(fetches.next_fetch(), kBegin + 7'200'500);
}

TEST(KeySetSchedule, WaitsAfterFailuresDoubleUpToALimitAndBeginAnewAfterSuccess) {
    KeySetSchedule fetches = schedule();
    Instant now = kBegin;
    for (const std::int64_t wait : {100, 200, 400, 800, 1'000, 1'000}) {
        fetches.failed(now);
        EXPECT_EQ(fetches.next_fetch(), now + wait);
        now = fetches.next_fetch();
    }
    fetches.fetched(now);
    fetches.failed(now);
    EXPECT_EQ(fetches.next_fetch(), now + 100);
}

TEST(KeySetSchedule, WaitsOfAnyLengthAreWaits) {
    constexpr std::int64_t kForEver = std::numeric_limits<std::int64_t>::max();
    KeySetSchedule fetches({.url = "", .refresh_ms = kForEver, .retry_ms_min = kForEver, .retry_ms_max = 1, .tls = {}}, kBegin);
    EXPECT_EQ(fetches.next_fetch(), kBegin + KeySetSchedule::kWaitMsMax);
    fetches.failed(kBegin);
    fetches.failed(kBegin);
    EXPECT_EQ(fetches.next_fetch(), kBegin + KeySetSchedule::kWaitMsMax);
}

TEST(KeySetSchedule, AMissingKeyHasTheSetFetchedAtOnceAndOnceInAMinute) {
    KeySetSchedule fetches = schedule();
    EXPECT_TRUE(fetches.miss("new", kBegin + 10));
    EXPECT_EQ(fetches.next_fetch(), kBegin + 10);
    fetches.fetched(kBegin + 20);
    EXPECT_FALSE(fetches.miss("new", kBegin + (9 + KeySetSchedule::kSameMissRestMs)));
    EXPECT_EQ(fetches.next_fetch(), kBegin + 20 + 3'600'000);
    EXPECT_TRUE(fetches.miss("new", kBegin + (10 + KeySetSchedule::kSameMissRestMs)));
}

TEST(KeySetSchedule, WhateverStrangersNameItIsFetchedOnceInASecondForThem) {
    KeySetSchedule fetches = schedule();
    int fetched = 0;
    for (int ms = 0; ms < 10'000; ++ms) {
        if (fetches.miss("key-" + std::to_string(ms), kBegin + ms)) {
            ++fetched;
            fetches.fetched(kBegin + ms);
        }
    }
    EXPECT_EQ(fetched, 10);
}

TEST(KeySetSchedule, IdsThatNoKeyHasAndWhileTheIssuerFailsChangeNothing) {
    KeySetSchedule fetches = schedule();
    EXPECT_FALSE(fetches.miss("", kBegin));
    EXPECT_FALSE(fetches.miss(std::string(KeySetSchedule::kKeyIdBytesMax + 1, 'x'), kBegin));
    EXPECT_EQ(fetches.next_fetch(), kBegin + 3'600'000);
    fetches.failed(kBegin);
    EXPECT_FALSE(fetches.miss("new", kBegin + 1));
    EXPECT_EQ(fetches.next_fetch(), kBegin + 100);
}

TEST(KeySetSchedule, OfTooManyMissingKeysTheFirstIsForgotten) {
    KeySetSchedule fetches = schedule();
    Instant now = kBegin;
    const auto look_for = [&](const std::string& id) {
        now = now + KeySetSchedule::kMissRestMs;
        const bool is_looked_for = fetches.miss(id, now);
        fetches.fetched(now);
        return is_looked_for;
    };
    for (std::size_t each = 0; each <= KeySetSchedule::kMissesMax; ++each) {
        EXPECT_TRUE(look_for(std::to_string(each)));
    }
    EXPECT_FALSE(look_for("1"));
    EXPECT_TRUE(look_for("0"));
}

}  // namespace
}  // namespace partita::authentication
