#include "broker/addons/scenarios/core/delivery.h"

#include <gmock/gmock.h>

namespace partita::scenarios {
namespace {

/// Two partitions, which then grew to three: key a lies in 0 and then in 2.
std::vector<TopicRecord> records() {
    return {{0, 0, 100, "a"}, {0, 1, 101, "b"}, {0, 2, 102, "a"}, {1, 5, 100, "c"}, {2, 0, 200, "a"}, {2, 1, 201, std::nullopt}};
}

/// Reports of one instance, each in a round of its own.
std::vector<Report> in_order(std::initializer_list<std::pair<std::int32_t, std::int64_t>> places) {
    std::vector<Report> reports;
    for (const auto& [partition, offset] : places) {
        reports.push_back({partition, offset, 0, static_cast<std::int64_t>(reports.size())});
    }
    return reports;
}

TEST(Delivery, EverythingOnceInItsOrderIsFine) {
    const Delivery delivery = judge(records(), in_order({{1, 5}, {0, 0}, {0, 1}, {0, 2}, {2, 0}, {2, 1}}), {});
    EXPECT_EQ(delivery.expected, 6);
    EXPECT_EQ(delivery.lost + delivery.twice + delivery.disordered + delivery.unknown, 0);
    EXPECT_EQ(delivery.lost_text + delivery.twice_text + delivery.disordered_text + delivery.unknown_text, "");
}

TEST(Delivery, WhatDidNotComeIsLost) {
    const Delivery delivery = judge(records(), in_order({{0, 0}, {0, 1}, {0, 2}, {1, 5}}), {});
    EXPECT_EQ(delivery.lost, 2);
    EXPECT_EQ(delivery.lost_text, "2 records never came to the application, such as offset 0 of partition 2");
}

TEST(Delivery, RecordsBeforeTheBeginningAreNotExpected) {
    const Delivery delivery = judge(records(), in_order({{0, 2}, {1, 5}, {2, 0}, {2, 1}}), {{0, 2}});
    EXPECT_EQ(delivery.expected, 4);
    EXPECT_EQ(delivery.lost, 0);
}

TEST(Delivery, ARecordThatComesAgainIsTwiceAndKeepsTheOrder) {
    const Delivery delivery = judge(records(), in_order({{0, 0}, {0, 2}, {2, 0}, {0, 0}, {0, 0}, {0, 1}, {1, 5}, {2, 1}}), {});
    EXPECT_EQ(delivery.twice, 1);
    EXPECT_EQ(delivery.twice_text, "1 record came twice, such as offset 0 of partition 0");
    EXPECT_EQ(delivery.disordered, 0);
}

TEST(Delivery, ANewerRecordOfAKeyInAnotherPartitionBreaksTheOrder) {
    const Delivery delivery = judge(records(), in_order({{2, 0}, {0, 0}, {0, 1}, {0, 2}, {1, 5}, {2, 1}}), {});
    EXPECT_EQ(delivery.disordered, 1);
    EXPECT_EQ(delivery.disordered_text,
              "1 key came out of order, such as a: offset 0 of partition 2 came before offset 0 of partition 0, which is older");
}

TEST(Delivery, WithinAPartitionOffsetsDecideWhateverTheTimes) {
    const std::vector<TopicRecord> late{{0, 0, 300, "a"}, {0, 1, 200, "a"}};
    EXPECT_EQ(judge(late, in_order({{0, 0}, {0, 1}}), {}).disordered, 0);
    EXPECT_EQ(judge(late, in_order({{0, 1}, {0, 0}}), {}).disordered, 1);
}

TEST(Delivery, EqualTimesInTwoPartitionsAreInNoOrder) {
    const std::vector<TopicRecord> same{{0, 0, 100, "a"}, {1, 0, 100, "a"}};
    EXPECT_EQ(judge(same, in_order({{0, 0}, {1, 0}}), {}).disordered, 0);
    EXPECT_EQ(judge(same, in_order({{1, 0}, {0, 0}}), {}).disordered, 0);
}

TEST(Delivery, InstancesThatReportInOneRoundAreInNoOrder) {
    const std::vector<Report> one_round{{2, 0, 0, 7}, {0, 0, 1, 7}};
    EXPECT_EQ(judge(records(), one_round, {}).disordered, 0);
    const std::vector<Report> two_rounds{{2, 0, 0, 7}, {0, 0, 1, 8}};
    EXPECT_EQ(judge(records(), two_rounds, {}).disordered, 1);
    // The reports of one instance are in its order, also within a round.
    const std::vector<Report> one_instance{{2, 0, 1, 7}, {0, 0, 1, 7}};
    EXPECT_EQ(judge(records(), one_instance, {}).disordered, 1);
}

TEST(Delivery, AReportOfARecordThatDoesNotExistIsWrong) {
    const Delivery delivery = judge(records(), in_order({{0, 9}, {7, 0}, {1, 0}}), {});
    EXPECT_EQ(delivery.unknown, 3);
    EXPECT_EQ(delivery.unknown_text, "3 reports are wrong, such as offset 9 of partition 0, which the topic does not have");
}

}  // namespace
}  // namespace partita::scenarios
