// Tests times, durations and plans of resets, as Kafka's tools read and write them.

#include "broker/tools/times.h"

#include <gtest/gtest.h>

#include "broker/tools/reset_plan.h"

namespace partita::tools {
namespace {

TEST(ToolTimes, DatesAreReadWithAndWithoutAZone) {
    EXPECT_EQ(parse_datetime("1970-01-01T00:00:01.500"), 1'500);
    EXPECT_EQ(parse_datetime("1970-01-01T00:00:01.500Z"), 1'500);
    EXPECT_EQ(parse_datetime("1970-01-01T01:00:00.000+01"), 0);
    EXPECT_EQ(parse_datetime("1970-01-01T01:00:00.000-01:30"), 9'000'000);
    EXPECT_EQ(parse_datetime("2024-02-29T00:00:00.000"), 1'709'164'800'000);
}

TEST(ToolTimes, WhatIsNoDateIsRefused) {
    for (const char* text : {"", "yesterday", "2024-01-01", "2024-01-01T", "2023-02-29T00:00:00.000", "2024-13-01T00:00:00.000",
                             "2024-01-01T24:00:00.000", "2024-01-01T00:00:00", "2024-01-01T00:00:00.000+25",
                             "2024-01-01T00:00:00.000ZZ", "99999999999999999999-01-01T00:00:00.000"}) {
        EXPECT_FALSE(parse_datetime(text)) << text;
    }
}

TEST(ToolTimes, DurationsAreReadAsJavaDoes) {
    EXPECT_EQ(parse_duration("P1D"), 86'400'000);
    EXPECT_EQ(parse_duration("PT1H2M3.25S"), 3'723'250);
    EXPECT_EQ(parse_duration("-P1DT1S"), -86'401'000);
    EXPECT_EQ(parse_duration("pt-5s"), -5'000);
    for (const char* text : {"", "P", "PT", "P1", "1D", "PT1D", "P1H", "PT1S1M", "PT1.5M", "P1DT", "P99999999999999999999D",
                             "P9223372036854775807D"}) {
        EXPECT_EQ(parse_duration(text), std::nullopt) << text;
    }
}

TEST(ResetPlan, WhatIsWrittenIsRead) {
    const client::TopicPartition plain{"orders", 3};
    const client::TopicPartition odd{"a topic with \"quotes\", and commas", 0};
    EXPECT_EQ(plan_line("", plain, 7), "orders,3,7\n");
    EXPECT_EQ(plan_line("g", plain, 7), "g,orders,3,7\n");
    EXPECT_EQ(plan_line("", {std::string(25, 'x'), 0}, 1), "\"" + std::string(25, 'x') + "\",0,1\n");
    const auto plan = parse_plan(plan_line("g", plain, 7) + plan_line("h", odd, 9) + "\n", {"g", "h"});
    ASSERT_TRUE(plan) << plan.error();
    EXPECT_EQ(plan->at("g").at(plain), 7);
    EXPECT_EQ(plan->at("h").at(odd), 9);
    EXPECT_EQ(parse_plan("orders,3,7\n", {"g"})->at("g").at(plain), 7);
}

TEST(ResetPlan, ALineThatCannotBeReadIsNamed) {
    for (const char* text :
         {"orders,3", "orders,x,1", "orders,1,x", "orders,-1,1", "orders,4294967296,1", "\"orders,1,1", "a,b,c,d,e"}) {
        const auto plan = parse_plan(std::string("orders,0,0\n") + text, {"g"});
        ASSERT_FALSE(plan) << text;
        EXPECT_EQ(plan.error(), std::string("line 2 of the plan cannot be read: ") + text);
    }
    EXPECT_FALSE(parse_plan("orders,3,7", {"g", "h"}));
}

}  // namespace
}  // namespace partita::tools
