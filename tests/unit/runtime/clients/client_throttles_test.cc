#include "broker/runtime/clients/client_throttles.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/catalog/catalog_fixture.h"

namespace partita::runtime {
namespace {

using catalog::QuotaEntity;

constexpr QuotaClient client(std::string_view id, std::string_view user = "ANONYMOUS") { return {user, id}; }
constexpr Now at(std::int64_t ms) { return {Instant{ms}, TimestampMs{ms}}; }

class ClientThrottlesTest : public ::testing::Test {
  protected:
    void limit(QuotaEntity entity, std::string_view key, std::optional<double> rate) {
        const auto reply = catalog_.carry_out(catalog::AlterClientQuotas{{{std::move(entity), {{key, rate}}}}, false});
        ASSERT_FALSE(reply.entities.front().error.failed()) << *reply.entities.front().error.message;
        throttles_.follow(catalog_.core().snapshot());
    }

    catalog::TestCatalog catalog_;
    ClientThrottles throttles_{catalog::QuotaWindows{}};
};

TEST_F(ClientThrottlesTest, OnlyWhatSomebodyHasAQuotaOfIsLimited) {
    throttles_.follow(catalog_.core().snapshot());
    EXPECT_FALSE(throttles_.limits(Throttled::produced_bytes));
    limit({{"client-id", "c"}}, "producer_byte_rate", 10);
    EXPECT_TRUE(throttles_.limits(Throttled::produced_bytes));
    EXPECT_FALSE(throttles_.limits(Throttled::fetched_bytes));
    limit({{"client-id", "c"}}, "producer_byte_rate", std::nullopt);
    EXPECT_FALSE(throttles_.limits(Throttled::produced_bytes));
}

TEST_F(ClientThrottlesTest, ClientsWithoutAQuotaNeverWait) {
    limit({{"client-id", "c"}}, "producer_byte_rate", 10);
    EXPECT_EQ(throttles_.use(Throttled::produced_bytes, client("d"), 1e9, at(0)), 0);
    EXPECT_EQ(throttles_.most_bytes_at_once(Throttled::fetched_bytes, client("c")), std::numeric_limits<std::int32_t>::max());
}

TEST_F(ClientThrottlesTest, BytesThatAreNotSentAreNotCounted) {
    limit({{"client-id", "c"}}, "consumer_byte_rate", 10);
    EXPECT_EQ(throttles_.most_bytes_at_once(Throttled::fetched_bytes, client("c")), 100);
    EXPECT_EQ(throttles_.use_or_leave(Throttled::fetched_bytes, client("c"), 90, at(0)), 0);
    EXPECT_EQ(throttles_.use_or_leave(Throttled::fetched_bytes, client("c"), 30, at(0)), 2000);
    EXPECT_EQ(throttles_.use_or_leave(Throttled::fetched_bytes, client("c"), 10, at(0)), 0);
}

TEST_F(ClientThrottlesTest, ForTimeNobodyWaitsLongerThanAWindow) {
    limit({{"user", "ANONYMOUS"}}, "request_percentage", 1);
    EXPECT_EQ(throttles_.use(Throttled::request_time, client("c"), 11, at(0)), 1000);
    EXPECT_EQ(throttles_.use(Throttled::request_time, client("d"), 1000, at(0)), 1000);
}

TEST_F(ClientThrottlesTest, WhoIsAnotherPrincipalHasAnotherQuota) {
    limit({{"user", "alice"}}, "producer_byte_rate", 10);
    EXPECT_GT(throttles_.use(Throttled::produced_bytes, client("c", "alice"), 1000, at(0)), 0);
    EXPECT_EQ(throttles_.use(Throttled::produced_bytes, client("c", "bob"), 1000, at(0)), 0);
    EXPECT_EQ(throttles_.use(Throttled::produced_bytes, client("c"), 1000, at(0)), 0);
}

TEST_F(ClientThrottlesTest, ConnectionsThatAreRefusedAreNotCounted) {
    limit({{"ip", std::nullopt}}, "connection_creation_rate", 1);
    for (int n = 0; n < 10; ++n) {
        EXPECT_EQ(throttles_.connect("10.0.0.1", at(0)), 0) << n;
    }
    for (int n = 0; n < 100; ++n) {
        EXPECT_EQ(throttles_.connect("10.0.0.1", at(0)), 1000) << n;
    }
    EXPECT_EQ(throttles_.connect("10.0.0.2", at(0)), 0);
    EXPECT_EQ(throttles_.connect("10.0.0.1", at(11'000)), 0);
}

}  // namespace
}  // namespace partita::runtime
