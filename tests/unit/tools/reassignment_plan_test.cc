// Tests the files of kafka-reassign-partitions and the throttles of its moves, with the texts and results of Kafka's tool.

#include "broker/tools/reassignment_plan.h"

#include <gtest/gtest.h>

namespace partita::tools {
namespace {

template <class T>
std::string error_of(const Outcome<T>& outcome) {
    return outcome ? "none" : outcome.error().message;
}

std::string plan_error(const std::string& json) {
    const auto plan = parse_reassignment_plan(json);
    return plan ? error_of(assignment_of(*plan)) : error_of(plan);
}

std::string of_partitions(const std::string& partitions) { return R"({"version":1,"partitions":[)" + partitions + "]}"; }

TEST(ReassignmentPlan, AFileComesBackAsItWasWritten) {
    const std::string text = of_partitions(
        R"({"topic":"a","partition":0,"replicas":[2,1],"log_dirs":["any","/d"]},{"topic":"b","partition":7,"replicas":[3],"log_dirs":["any"]})");
    const auto plan = parse_reassignment_plan(text);
    ASSERT_TRUE(plan) << error_of(plan);
    const auto assignment = assignment_of(*plan);
    ASSERT_TRUE(assignment) << error_of(assignment);
    EXPECT_EQ(plan->directories, (Directories{{{1, {"a", 0}}, "/d"}}));
    EXPECT_EQ(plan_text(*assignment, plan->directories), text);
}

TEST(ReassignmentPlan, TheVersionIsOneIfTheFileDoesNotSay) {
    EXPECT_EQ(plan_error(R"({"partitions":[{"topic":"a","partition":0,"replicas":[1]}]} and more)"), "none");
    EXPECT_EQ(plan_error(R"({"version":2})"), "Not supported version field value 2");
    EXPECT_EQ(plan_error(R"({"version":null})"), "Expected `Integer` value, received null");
}

TEST(ReassignmentPlan, WrongValuesAreNamed) {
    EXPECT_EQ(plan_error(""), "The input string shouldn't be empty");
    EXPECT_EQ(plan_error("{"), "The input string is not a valid JSON");
    EXPECT_EQ(plan_error("[1]"), "Expected JSON object, received [1]");
    EXPECT_EQ(plan_error(R"({"partitions":{}})"), "Expected JSON array, received {}");
    EXPECT_EQ(plan_error(of_partitions("7")), "Expected JSON object, received 7");
    EXPECT_EQ(plan_error(of_partitions(R"({"partition":0})")), "No such field exists: `topic`");
    EXPECT_EQ(plan_error(of_partitions(R"({"topic":"a","partition":2147483648})")),
              "Expected `Integer` value, received 2147483648");
    EXPECT_EQ(plan_error(of_partitions(R"({"topic":"a","partition":0,"replicas":1})")),
              "Expected `JSON array` value, received 1");
    EXPECT_EQ(plan_error(of_partitions(R"({"topic":"a","partition":0,"replicas":[1],"log_dirs":[1]})")),
              "Expected `String` value, received 1");
}

TEST(ReassignmentPlan, RepetitionsAreRefusedInJavasOrder) {
    const std::string twice = R"({"topic":"plain","partition":0,"replicas":[1]})";
    EXPECT_EQ(plan_error(of_partitions(twice + "," + twice)),
              "Partition reassignment contains duplicate topic partitions: plain-0");
    EXPECT_EQ(plan_error(of_partitions(R"({"topic":"a","partition":0,"replicas":[17,1,17,1,2]})")),
              "Partition replica lists may not contain duplicate entries: a-0 contains multiple entries for 17,1");
    EXPECT_EQ(plan_error(of_partitions(R"({"topic":"a","partition":0,"replicas":[]})")),
              "Partition replica list cannot be empty");
    EXPECT_EQ(plan_error(of_partitions("")), "Partition reassignment list cannot be empty");
}

TEST(ReassignmentPlan, AListOfBrokersIsSplitAsInJava) {
    EXPECT_EQ(parse_broker_list("3,1,,").value(), (std::set<std::int32_t>{1, 3}));
    EXPECT_TRUE(parse_broker_list(",").value().empty());
    EXPECT_EQ(error_of(parse_broker_list("")), "For input string: \"\"");
    EXPECT_EQ(error_of(parse_broker_list(",1")), "For input string: \"\"");
    EXPECT_EQ(error_of(parse_broker_list("1,2,1,2")), "Broker list contains duplicate entries: [1, 2]");
}

TEST(ReassignmentPlan, ThrottlesNameSourcesAndNewBrokers) {
    // As in the example of Kafka's ReassignPartitionsUnitTest.testMoveMap: foo-0 moves already, the others begin to.
    const std::map<client::TopicPartition, client::Reassignment> ongoing = {
        {{"foo", 0}, {.replicas = {1, 2, 3, 4}, .adding = {4}, .removing = {1}}},
        {{"quux", 0}, {.replicas = {2, 3, 1, 5}, .adding = {5}, .removing = {1}}}};
    const Assignment proposed = {{{"foo", 0}, {1, 2, 5}}, {{"foo", 10}, {5, 4, 3}}, {{"bar", 0}, {5, 6, 7}}};
    const Assignment current = {{{"foo", 0}, {1, 2, 3, 4}}, {{"foo", 10}, {4, 3, 1}}, {{"bar", 0}, {2, 3, 4}}};
    const Moves moves = moves_of(ongoing, proposed, current);
    EXPECT_EQ(throttled_leaders(moves.at("foo")), "0:1,0:2,0:3,10:1,10:3,10:4");
    EXPECT_EQ(throttled_followers(moves.at("foo")), "0:5,10:5");
    EXPECT_EQ(throttled_followers(moves.at("bar")), "0:5,0:6,0:7");
    EXPECT_EQ(throttled_leaders(moves.at("quux")), "0:1,0:2,0:3");
    EXPECT_EQ(throttled_followers(moves.at("quux")), "0:5");
    EXPECT_EQ(brokers_of(moves), (std::set<std::int32_t>{1, 2, 3, 4, 5, 6, 7}));
}

}  // namespace
}  // namespace partita::tools
