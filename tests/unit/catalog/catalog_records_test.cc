#include "broker/catalog/catalog_records.h"

#include <gtest/gtest.h>

#include <utility>

#include "broker/catalog/change_builder.h"

namespace partita::catalog {
namespace {

Topic topic_of(std::int32_t partition_count) {
    Topic topic;
    topic.name = "orders";
    topic.id.bytes[15] = 7;
    topic.partition_count = partition_count;
    return topic;
}

ExpansionEpoch growth(std::int32_t from, std::int32_t to) {
    ExpansionEpoch expansion;
    expansion.epoch = 1;
    expansion.old_partition_count = from;
    expansion.new_partition_count = to;
    return expansion;
}

TEST(CatalogRecords, ATopicIsReadAsItWasWritten) {
    const Record record = topic_record(topic_of(3));
    const auto key = decode_key(as_bytes(record.key));
    ASSERT_TRUE(key);
    const auto read = decode_topic(std::get<TopicKey>(*key), as_bytes(*record.value));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->name, "orders");
    EXPECT_EQ(read->partition_count, 3);
}

TEST(CatalogRecords, WhatIsNotReadIsNotWritten) {
    EXPECT_DEATH((void)topic_record(topic_of(0)), "decode_topic takes no topic without partitions");
    EXPECT_DEATH((void)state_record(-1, ProducerId{0}), "decode_state takes no negative number");
    EXPECT_DEATH((void)state_record(1, ProducerId{-1}), "decode_state takes no negative number");
}

TEST(CatalogRecords, AnExpansionLeadsFromTheCountBeforeToAHigherOne) {
    EXPECT_TRUE(may_follow(3, growth(3, 4)));
    EXPECT_FALSE(may_follow(2, growth(3, 4)));
    EXPECT_FALSE(may_follow(3, growth(3, 3)));
    ExpansionEpoch ends = growth(2, 4);
    ends.log_end_offsets.assign(2, Offset{5});
    EXPECT_TRUE(may_follow(2, ends));
    ends.log_end_offsets.assign(3, Offset{5});
    EXPECT_FALSE(may_follow(2, ends)) << "one end for each old partition at most";
}

TEST(CatalogRecords, AnExpansionThatAReplayWouldRefuseIsNotMade) {
    const auto before = std::make_shared<const Topic>(topic_of(3));
    Topic after = topic_of(6);
    after.expansions.push_back(std::make_shared<const ExpansionEpoch>(growth(2, 6)));
    const auto expand = [&] {
        ChangeBuilder change(std::make_shared<const CatalogSnapshot>());
        change.expand_topic(before, after);
    };
    EXPECT_DEATH(expand(), "a replay takes no other");
}

}  // namespace
}  // namespace partita::catalog
