// Tests how people write quotas, and which of several counts.

#include "broker/tools/quota_text.h"

#include <gmock/gmock.h>

namespace partita::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const QuotaKind& bytes() { return *find_quota_kind("producer_byte_rate"); }
const QuotaKind& percent() { return *find_quota_kind("request_percentage"); }
const QuotaKind& rate() { return *find_quota_kind("connection_creation_rate"); }

TEST(QuotaText, NumbersHaveUnits) {
    EXPECT_EQ(parse_quota(bytes(), "1048576"), 1048576);
    EXPECT_EQ(parse_quota(bytes(), "10MB"), 10e6);
    EXPECT_EQ(parse_quota(bytes(), "10M"), 10e6);
    EXPECT_EQ(parse_quota(bytes(), "1.5MiB/s"), 1.5 * 1024 * 1024);
    EXPECT_EQ(parse_quota(bytes(), "3KB/s"), 3000);
    EXPECT_EQ(parse_quota(bytes(), "2GiB"), 2.0 * 1024 * 1024 * 1024);
    EXPECT_EQ(parse_quota(bytes(), "1e6"), 1e6);
    EXPECT_EQ(parse_quota(percent(), "50%"), 50);
    EXPECT_EQ(parse_quota(percent(), "0.5"), 0.5);
    EXPECT_EQ(parse_quota(rate(), "5/s"), 5);
}

TEST(QuotaText, WhatIsNoQuotaIsRefusedWithAnExample) {
    for (const std::string_view text : {"", "many", "-1", "0", "nan", "inf", "1e400", "5XB", "5 MB", "1MB/h", "B"}) {
        const auto parsed = parse_quota(bytes(), text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_THAT(parsed.error(),
                    HasSubstr("producer_byte_rate is '" + std::string(text) + "'; use bytes per second, such as 1048576"));
    }
    EXPECT_FALSE(parse_quota(percent(), "50MB"));
    EXPECT_FALSE(parse_quota(rate(), "5%"));
}

TEST(QuotaText, TheNumberIsExactAndASizeStandsBehindIt) {
    EXPECT_EQ(quota_text(bytes(), 1048576), "1048576 (1.0 MiB/s)");
    EXPECT_EQ(quota_text(bytes(), 10e6), "10000000 (9.5 MiB/s)");
    EXPECT_EQ(quota_text(bytes(), 12.5), "12.5 (12 B/s)");
    EXPECT_EQ(quota_text(percent(), 50), "50 (50 % of a thread)");
    EXPECT_EQ(quota_text(rate(), 0.5), "0.5 (0.5 a second)");
}

TEST(QuotaText, EntitiesAreNamedInOneOrder) {
    EXPECT_EQ(entity_text({{"client-id", std::nullopt}, {"user", "anna"}}), "user anna, any other client");
    EXPECT_EQ(entity_text({{"ip", "10.0.0.1"}}), "ip 10.0.0.1");
    EXPECT_EQ(entity_text({{"user", "a\033[31mb"}}), "user a?[31mb");
}

TEST(QuotasInForce, TheMostSpecificOneCounts) {
    // Each entity yields to the one before it.
    const std::vector<client::QuotaEntity> order{
        {{"user", "anna"}, {"client-id", "app"}},
        {{"user", "anna"}, {"client-id", std::nullopt}},
        {{"user", "anna"}},
        {{"user", std::nullopt}, {"client-id", "app"}},
        {{"user", std::nullopt}, {"client-id", std::nullopt}},
        {{"user", std::nullopt}},
        {{"client-id", "app"}},
        {{"client-id", std::nullopt}},
    };
    std::vector<client::EntityQuotas> all;
    for (std::size_t i = order.size(); i > 0; --i) {
        all.insert(all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2),
                   {order[i - 1], {{"producer_byte_rate", static_cast<double>(i)}}});
        const auto found = quotas_in_force(all, {.user = "anna", .client = "app"});
        ASSERT_EQ(found.size(), 1u);
        EXPECT_EQ(found[0].value, i) << entity_text(order[i - 1]);
        EXPECT_EQ(found[0].from, order[i - 1]);
    }
}

TEST(QuotasInForce, OthersDoNotCount) {
    const std::vector<client::EntityQuotas> all{
        {{{"user", "bob"}}, {{"producer_byte_rate", 1}}},
        {{{"user", "anna"}, {"client-id", "app"}}, {{"producer_byte_rate", 2}}},
        {{{"ip", std::nullopt}}, {{"connection_creation_rate", 3}}},
        {{{"ip", "::1"}}, {{"connection_creation_rate", 4}}},
    };
    EXPECT_TRUE(quotas_in_force(all, {.user = "anna"}).empty()) << "of which client nobody said";
    EXPECT_EQ(quotas_in_force(all, {.ip = "::1"})[0].value, 4);
    EXPECT_EQ(quotas_in_force(all, {.ip = "::2"})[0].value, 3);
}

TEST(QuotasInForce, EachKindIsLookedForByItself) {
    const std::vector<client::EntityQuotas> all{
        {{{"user", "anna"}}, {{"consumer_byte_rate", 1}}},
        {{{"user", std::nullopt}}, {{"consumer_byte_rate", 2}, {"request_percentage", 3}}},
    };
    std::vector<std::string> found;
    for (const QuotaInForce& one : quotas_in_force(all, {.user = "anna"})) {
        found.emplace_back(one.key);
    }
    EXPECT_THAT(found, ElementsAre("consumer_byte_rate", "request_percentage"));
}

}  // namespace
}  // namespace partita::tools
