#include "broker/catalog/client_rates.h"

#include <gtest/gtest.h>

#include "tests/unit/catalog/catalog_fixture.h"

namespace partita::catalog {
namespace {

const QuotaInForce kTenPerSecond{.rate = 10, .bucket = "c"};

TEST(WindowedRate, WindowsThatNeverWereCountAsEmptyOnes) {
    WindowedRate rate({});
    rate.record(500, Instant{0});
    EXPECT_EQ(rate.span_ms(Instant{0}), 10'000);
    EXPECT_DOUBLE_EQ(rate.per_second(Instant{0}), 50);
    EXPECT_EQ(rate.span_ms(Instant{400}), 10'400);
}

TEST(WindowedRate, AWindowLastsUntilItIsFullAndTheNextBeginsWithItsFirstUse) {
    WindowedRate rate({.count = 3, .size_ms = 1000});
    rate.record(1, Instant{0});
    rate.record(1, Instant{999});
    rate.record(1, Instant{1700});
    // The span counts from the beginning of the oldest window: one window is full, and the missing second one counts as well.
    EXPECT_EQ(rate.span_ms(Instant{1700}), 1700 + 1000);
    EXPECT_EQ(rate.span_ms(Instant{2500}), 2500);
    EXPECT_DOUBLE_EQ(rate.per_second(Instant{2500}), 3 / 2.5);
}

TEST(WindowedRate, WhatNobodyUsedForAllWindowsIsForgotten) {
    WindowedRate rate({.count = 3, .size_ms = 1000});
    rate.record(100, Instant{0});
    rate.record(1, Instant{1500});
    EXPECT_DOUBLE_EQ(rate.per_second(Instant{2999}), 101 / 2.999);
    EXPECT_DOUBLE_EQ(rate.per_second(Instant{3000}), 1 / 2.5);
    EXPECT_DOUBLE_EQ(rate.per_second(Instant{10'000}), 0);
}

TEST(WindowedRate, KeepsOneWindowMoreThanItCounts) {
    WindowedRate rate({.count = 2, .size_ms = 1000});
    for (std::int64_t second = 0; second < 100; ++second) {
        rate.record(10, Instant{second * 1000});
    }
    // 97,000 is two windows old; the other three are counted: 98,000, and 99,000 just now.
    EXPECT_DOUBLE_EQ(rate.per_second(Instant{99'000}), 20);
}

TEST(ClientRates, WhoUsesMoreThanTheQuotaWaitsUntilTheRateIsTheQuotaAgain) {
    ClientRates rates({});
    EXPECT_EQ(rates.use(kTenPerSecond, 100, Instant{0}), 0);  // Ten full windows.
    // 150 over 10 s is 15 per second: half of the span too much.
    EXPECT_EQ(rates.use(kTenPerSecond, 50, Instant{0}), 5000);
    // All uses count until the whole span has passed; then the windows go.
    EXPECT_EQ(rates.use(kTenPerSecond, 0, Instant{4000}), 5000);
    EXPECT_EQ(rates.use(kTenPerSecond, 0, Instant{11'000}), 0);
}

TEST(ClientRates, ASteadyClientBelowItsQuotaNeverWaits) {
    ClientRates rates({});
    for (std::int64_t now = 0; now < 60'000; now += 100) {
        ASSERT_EQ(rates.use(kTenPerSecond, 0.9, Instant{now}), 0) << now;
    }
}

TEST(ClientRates, ASteadyClientAboveItsQuotaIsBroughtDownToIt) {
    ClientRates rates({});
    double used = 0;
    std::int64_t now = 0;
    while (now < 120'000) {
        used += 40;
        now += 100 + rates.use(kTenPerSecond, 40, Instant{now});
    }
    // The first burst fills the windows.
    EXPECT_NEAR(used / 120, 10, 1.5);
}

TEST(ClientRates, WhatIsTakenBackWasNeverUsed) {
    ClientRates rates({});
    EXPECT_GT(rates.use(kTenPerSecond, 1000, Instant{0}), 0);
    rates.take_back(kTenPerSecond, 1000, Instant{0});
    EXPECT_EQ(rates.use(kTenPerSecond, 100, Instant{1}), 0);
}

TEST(ClientRates, NobodyCanUseMoreAtOnceThanAllWindowsButOneHold) {
    ClientRates rates({});
    EXPECT_DOUBLE_EQ(rates.most_at_once(kTenPerSecond), 100);
    EXPECT_EQ(rates.use(kTenPerSecond, 100, Instant{0}), 0);
    EXPECT_GT(rates.use({.rate = 10, .bucket = "d"}, 101, Instant{0}), 0);
}

TEST(ClientRates, AreBoundedAndWhoWasQuietForLongestMakesRoom) {
    ClientRates rates({});
    EXPECT_GT(rates.use({.rate = 1, .bucket = "busy"}, 1000, Instant{0}), 0);
    EXPECT_GT(rates.use({.rate = 1, .bucket = "quiet"}, 1000, Instant{0}), 0);
    for (std::size_t i = 0; i < 2 * ClientRates::kClientsMax; ++i) {
        (void)rates.use({.rate = 1, .bucket = std::to_string(i)}, 1, Instant{1});
        (void)rates.use({.rate = 1, .bucket = "busy"}, 0, Instant{1});
        ASSERT_LE(rates.client_count(), ClientRates::kClientsMax);
    }
    EXPECT_GT(rates.use({.rate = 1, .bucket = "busy"}, 0, Instant{2}), 0);
    EXPECT_EQ(rates.use({.rate = 1, .bucket = "quiet"}, 1, Instant{2}), 0);
}

TEST(QuotaOfAnAddress, IsItsOwnBeforeThatOfAnyAddress) {
    TestCatalog catalog;
    const auto limit = [&](std::optional<std::string> address, double rate) {
        const auto reply =
            catalog.carry_out(AlterClientQuotas{{{{{"ip", std::move(address)}}, {{"connection_creation_rate", rate}}}}, false});
        ASSERT_FALSE(reply.entities.front().error.failed()) << *reply.entities.front().error.message;
    };
    const auto found = [&](std::string_view address) {
        return quota_of_address(*catalog.core().snapshot(), address, "connection_creation_rate");
    };
    EXPECT_EQ(found("10.0.0.1"), std::nullopt);
    limit(std::nullopt, 7);
    limit("10.0.0.1", 3);
    EXPECT_EQ(found("10.0.0.1"), (QuotaInForce{3, "10.0.0.1"}));
    EXPECT_EQ(found("10.0.0.2"), (QuotaInForce{7, "10.0.0.2"}));
}

}  // namespace
}  // namespace partita::catalog
