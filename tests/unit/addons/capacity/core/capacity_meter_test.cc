#include "broker/addons/capacity/core/capacity_meter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>
#include <vector>

namespace partita::capacity {
namespace {

constexpr Load kUnitIn{.bytes = 1'000'000, .events = 1'000};
constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();

Load times(Load unit, std::int64_t units) { return {unit.bytes * units, unit.events * units}; }

CapacityMeter meter_of(Load rate) {
    CapacityMeter meter;
    meter.set_rate(rate, Instant{0});
    return meter;
}

struct Passed {
    Load total;
    std::vector<std::int64_t> requests;  ///< of each client
};

/// Runs clients that send the next request when the last one was answered, which is `wait_ms` after it came. Returns what passed
/// until `until_ms`.
Passed run_clients(CapacityMeter& meter, std::size_t clients, Load request, std::int64_t until_ms) {
    Passed passed;
    passed.requests.resize(clients);
    // Time of a request, its number among all, and its client.
    using Event = std::tuple<std::int64_t, std::int64_t, std::size_t>;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
    std::int64_t sequence = 0;
    for (std::size_t client = 0; client < clients; ++client) {
        events.emplace(0, sequence++, client);
    }
    while (!events.empty()) {
        const auto [at, number, client] = events.top();
        events.pop();
        const CapacityMeter::Admission admission = meter.admit(request, kAlways, Instant{at});
        EXPECT_TRUE(admission.is_taken);
        if (at + admission.wait_ms <= until_ms) {
            passed.total = passed.total + request;
            ++passed.requests[client];
            events.emplace(at + admission.wait_ms, sequence++, client);
        }
    }
    return passed;
}

class TenSeconds : public testing::TestWithParam<std::tuple<std::int64_t, std::size_t>> {};

TEST_P(TenSeconds, PassTenSecondsOfCapacityToTwoPercentWhenBytesRunOutFirst) {
    const auto [units, clients] = GetParam();
    CapacityMeter meter = meter_of(times(kUnitIn, units));
    const Passed passed = run_clients(meter, clients, {.bytes = 9'973, .events = 7}, 10'000);
    const double expected = 10.0 * static_cast<double>(kUnitIn.bytes * units);
    EXPECT_NEAR(static_cast<double>(passed.total.bytes), expected, 0.02 * expected);
    EXPECT_LT(passed.total.events, 10 * kUnitIn.events * units);
}

TEST_P(TenSeconds, PassTenSecondsOfCapacityToTwoPercentWhenEventsRunOutFirst) {
    const auto [units, clients] = GetParam();
    CapacityMeter meter = meter_of(times(kUnitIn, units));
    const Passed passed = run_clients(meter, clients, {.bytes = 1'100, .events = 13}, 10'000);
    const double expected = 10.0 * static_cast<double>(kUnitIn.events * units);
    EXPECT_NEAR(static_cast<double>(passed.total.events), expected, 0.02 * expected);
    EXPECT_LT(passed.total.bytes, 10 * kUnitIn.bytes * units);
}

TEST_P(TenSeconds, AreSharedEquallyByEqualClients) {
    const auto [units, clients] = GetParam();
    CapacityMeter meter = meter_of(times(kUnitIn, units));
    const Passed passed = run_clients(meter, clients, {.bytes = 9'973, .events = 7}, 10'000);
    const auto [least, most] = std::ranges::minmax(passed.requests);
    EXPECT_LE(most - least, 1);
}

INSTANTIATE_TEST_SUITE_P(UnitsAndClients, TenSeconds,
                         testing::Combine(testing::Values(1, 2, 20), testing::Values(1U, 10U, 100U)));

TEST(CapacityMeter, HoldsNobodyUpWithoutALimit) {
    CapacityMeter meter;
    for (int i = 0; i < 100; ++i) {
        const auto admission = meter.admit({.bytes = kAlways, .events = kAlways}, 0, Instant{0});
        EXPECT_TRUE(admission.is_taken);
        EXPECT_EQ(admission.wait_ms, 0);
    }
}

TEST(CapacityMeter, LimitsOneResourceAlone) {
    CapacityMeter meter = meter_of({.bytes = 5'000'000, .events = 0});
    EXPECT_EQ(meter.admit({.bytes = 0, .events = 1'000'000'000}, kAlways, Instant{0}).wait_ms, 0);
    EXPECT_EQ(meter.admit({.bytes = 5'500'000, .events = 1}, kAlways, Instant{0}).wait_ms, 1'000);
}

TEST(CapacityMeter, GivesATenthOfASecondAtOnceAfterAPauseAndNeverMore) {
    CapacityMeter meter = meter_of(kUnitIn);
    EXPECT_EQ(meter.admit({.bytes = 100'000}, 0, Instant{0}).wait_ms, 0);
    EXPECT_EQ(meter.admit({.bytes = 1}, kAlways, Instant{0}).wait_ms, 1);
    EXPECT_EQ(meter.admit({.bytes = 100'000}, 0, Instant{3'600'000}).wait_ms, 0);
    EXPECT_EQ(meter.admit({.bytes = 1'000}, kAlways, Instant{3'600'000}).wait_ms, 1);
}

TEST(CapacityMeter, WhatRunsOutFirstMakesWait) {
    CapacityMeter meter = meter_of(kUnitIn);
    // 100 events pass at once; 900 more take 0.9 s, and the bytes do not matter.
    EXPECT_EQ(meter.admit({.bytes = 10, .events = 1'000}, kAlways, Instant{0}).wait_ms, 900);
    // Bytes 200'010 - 100'000, events one more.
    EXPECT_EQ(meter.admit({.bytes = 200'000, .events = 1}, kAlways, Instant{0}).wait_ms, 901);
    EXPECT_EQ(meter.admit({.bytes = 2'000'000, .events = 1}, kAlways, Instant{0}).wait_ms, 2'101);
}

TEST(CapacityMeter, TakesNothingWhenTheWaitIsLongerThanTheCallerAccepts) {
    CapacityMeter meter = meter_of(kUnitIn);
    const auto refused = meter.admit({.bytes = 600'000}, 499, Instant{0});
    EXPECT_FALSE(refused.is_taken);
    EXPECT_EQ(refused.wait_ms, 500);
    EXPECT_EQ(meter.admit({.bytes = 100'000}, 0, Instant{0}).wait_ms, 0);
    const auto just = meter.admit({.bytes = 500'000}, 500, Instant{0});
    EXPECT_TRUE(just.is_taken);
    EXPECT_EQ(just.wait_ms, 500);
}

TEST(CapacityMeter, RefusesALoadThatBreaksOneResourceWithoutTakingOfTheOther) {
    CapacityMeter meter = meter_of(kUnitIn);
    EXPECT_FALSE(meter.admit({.bytes = 50'000, .events = 1'000}, 10, Instant{0}).is_taken);
    EXPECT_EQ(meter.admit({.bytes = 100'000, .events = 100}, 0, Instant{0}).wait_ms, 0);
}

TEST(CapacityMeter, NobodyWaitsLongerThanTheLongestWaitWhateverIsAsked) {
    CapacityMeter meter = meter_of({.bytes = 1, .events = 1});
    for (const std::int64_t amount : {std::int64_t{600'101}, std::int64_t{1} << 40, kAlways}) {
        const auto refused = meter.admit({.bytes = amount}, kAlways, Instant{0});
        EXPECT_FALSE(refused.is_taken) << amount;
        EXPECT_EQ(refused.wait_ms, kLongestWaitMs);
    }
    const auto longest = meter.admit({.bytes = 600}, kAlways, Instant{0});
    EXPECT_TRUE(longest.is_taken);
    EXPECT_EQ(longest.wait_ms, 599'900);
}

TEST(CapacityMeter, TheLargestRateAndTheLongestWaitFitIntoItsNumbers) {
    const std::int64_t most = std::int64_t{kUnitsMax} * kPerUnitMax;
    CapacityMeter meter = meter_of({.bytes = most, .events = most});
    const auto longest = meter.admit({.bytes = most * (kLongestWaitMs / 1'000)}, kAlways, Instant{0});
    EXPECT_TRUE(longest.is_taken);
    EXPECT_EQ(longest.wait_ms, kLongestWaitMs - 100);
    EXPECT_FALSE(meter.admit({.bytes = kAlways}, kAlways, Instant{0}).is_taken);
    EXPECT_EQ(meter.admit({.bytes = 0}, kAlways, Instant{kAlways / 2}).wait_ms, 0);
}

TEST(CapacityMeter, NegativeLoadsGiveNothingBack) {
    CapacityMeter meter = meter_of(kUnitIn);
    EXPECT_EQ(meter.admit({.bytes = 100'000}, 0, Instant{0}).wait_ms, 0);
    EXPECT_EQ(meter.admit({.bytes = -1'000'000, .events = -1}, 0, Instant{0}).wait_ms, 0);
    EXPECT_EQ(meter.admit({.bytes = 1'000}, kAlways, Instant{0}).wait_ms, 1);
}

TEST(CapacityMeter, WhatIsOwedIsPaidBackAtTheNewRateWhenUnitsChange) {
    CapacityMeter meter = meter_of(kUnitIn);
    EXPECT_EQ(meter.admit({.bytes = 4'100'000}, kAlways, Instant{0}).wait_ms, 4'000);
    // After a second, three MB are still owed. At two units they take a second and a half.
    meter.set_rate(times(kUnitIn, 2), Instant{1'000});
    EXPECT_EQ(meter.admit({}, kAlways, Instant{1'000}).wait_ms, 1'500);
    EXPECT_EQ(meter.admit({.bytes = 2'000'000}, kAlways, Instant{1'500}).wait_ms, 2'000);
    // Down again: another four seconds at two units would be eight at one.
    EXPECT_EQ(meter.admit({.bytes = 4'000'000}, kAlways, Instant{1'500}).wait_ms, 4'000);
    meter.set_rate(kUnitIn, Instant{1'500});
    EXPECT_EQ(meter.admit({}, kAlways, Instant{1'500}).wait_ms, 8'000);
}

TEST(CapacityMeter, PassesWhatTheUnitsOfEachSecondCarryWhenTheyChangeUnderLoad) {
    CapacityMeter meter = meter_of(kUnitIn);
    const Load request{.bytes = 9'973, .events = 1};
    std::int64_t passed = 0;
    // Requests are answered when they are due; the queue is never empty.
    std::vector<std::int64_t> due;
    for (std::int64_t now = 0; now <= 12'000; ++now) {
        if (now == 4'000) {
            meter.set_rate(times(kUnitIn, 2), Instant{now});
        }
        if (now == 8'000) {
            meter.set_rate(times(kUnitIn, 20), Instant{now});
        }
        passed += request.bytes * std::erase_if(due, [now](std::int64_t at) { return at <= now; });
        while (due.size() < 10) {
            const std::int64_t wait_ms = meter.admit(request, kAlways, Instant{now}).wait_ms;
            if (wait_ms == 0) {
                passed += request.bytes;
            } else {
                due.push_back(now + wait_ms);
            }
        }
    }
    const double expected = 4e6 + 8e6 + 80e6;
    EXPECT_NEAR(static_cast<double>(passed), expected, 0.02 * expected);
}

TEST(CapacityMeter, OwesNoMoreThanTheLongestWaitAfterItBecameSlow) {
    CapacityMeter meter = meter_of(times(kUnitIn, 1'000));
    EXPECT_TRUE(meter.admit({.bytes = 300'000'000'000}, kAlways, Instant{0}).is_taken);
    meter.set_rate({.bytes = 1, .events = 1}, Instant{0});
    EXPECT_FALSE(meter.admit({.bytes = 1}, kAlways, Instant{0}).is_taken);
    EXPECT_TRUE(meter.admit({.bytes = 1}, kAlways, Instant{1'000}).is_taken);
}

TEST(CapacityMeter, OffAndOnAgainBeginsFull) {
    CapacityMeter meter = meter_of(kUnitIn);
    EXPECT_EQ(meter.admit({.bytes = 4'100'000}, kAlways, Instant{0}).wait_ms, 4'000);
    meter.set_rate({}, Instant{0});
    EXPECT_EQ(meter.admit({.bytes = 4'100'000}, kAlways, Instant{0}).wait_ms, 0);
    meter.set_rate(kUnitIn, Instant{0});
    EXPECT_EQ(meter.admit({.bytes = 100'000}, kAlways, Instant{0}).wait_ms, 0);
}

TEST(CapacityMeter, ClocksOfTwoReactorsThatDifferByAMomentGiveNoTimeTwice) {
    CapacityMeter meter = meter_of(kUnitIn);
    EXPECT_EQ(meter.admit({.bytes = 100'000}, 0, Instant{0}).wait_ms, 0);
    for (int i = 0; i < 1'000; ++i) {
        EXPECT_EQ(meter.admit({}, kAlways, Instant{10}).wait_ms, 0);
        EXPECT_EQ(meter.admit({}, kAlways, Instant{3}).wait_ms, 0);
    }
    EXPECT_EQ(meter.admit({.bytes = 11'000}, kAlways, Instant{10}).wait_ms, 1);
}

TEST(CapacityMeter, AClockThatWasSetBackGoesOnFromThere) {
    CapacityMeter meter = meter_of(kUnitIn);
    EXPECT_EQ(meter.admit({.bytes = 1'100'000}, kAlways, Instant{10'000'000}).wait_ms, 1'000);
    EXPECT_EQ(meter.admit({}, kAlways, Instant{5'000'000}).wait_ms, 1'000);
    EXPECT_EQ(meter.admit({}, kAlways, Instant{5'000'400}).wait_ms, 600);
}

TEST(CapacityMeter, AClockThatWasSetFarAheadFillsTheBucketOnce) {
    CapacityMeter meter = meter_of(kUnitIn);
    EXPECT_EQ(meter.admit({.bytes = 1'100'000}, kAlways, Instant{0}).wait_ms, 1'000);
    const Instant far{std::numeric_limits<std::int64_t>::max() / 2};
    EXPECT_EQ(meter.admit({.bytes = 1'100'000}, kAlways, far).wait_ms, 1'000);
}

TEST(CapacityMeter, WhatIsGivenBackMayPassAgain) {
    CapacityMeter meter;
    meter.set_rate({.bytes = 1'000, .events = 10}, Instant{0});
    EXPECT_EQ(meter.admit({.bytes = 1'100, .events = 11}, 5'000, Instant{0}).wait_ms, 1'000);
    EXPECT_EQ(meter.owed_ms(Instant{0}), 1'000);
    meter.give_back({.bytes = 1'000, .events = 10});
    EXPECT_EQ(meter.owed_ms(Instant{0}), 0);
    EXPECT_EQ(meter.admit({.bytes = 0, .events = 1}, 5'000, Instant{0}).wait_ms, 100);
}

TEST(CapacityMeter, MoreThanWasTakenFillsABucketAndNoMore) {
    CapacityMeter meter;
    meter.set_rate({.bytes = 1'000, .events = 0}, Instant{0});
    meter.give_back({.bytes = std::numeric_limits<std::int64_t>::max(), .events = -7});
    EXPECT_EQ(meter.admit({.bytes = 100}, 5'000, Instant{0}).wait_ms, 0);
    EXPECT_EQ(meter.admit({.bytes = 1}, 5'000, Instant{0}).wait_ms, 1);
}

}  // namespace
}  // namespace partita::capacity
