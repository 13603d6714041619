#include "broker/assignors/assignor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/processor_time.h"
#include "tests/support/test_cluster.h"
#include "tests/support/tests_directory.h"

namespace partita::assignors {
namespace {

/// A group that owns the data that a GroupSpec borrows.
struct TestGroup {
    std::vector<GroupSpec::Topic> topics;
    std::vector<std::vector<std::uint32_t>> subscriptions;
    std::vector<Assignment> previous;

    void add_topics(const std::vector<std::int32_t>& counts) {
        for (const std::int32_t count : counts) {
            topics.push_back({test::TestCluster::id(static_cast<std::uint32_t>(topics.size() + 1)), count});
        }
    }
    void add_member(std::vector<std::uint32_t> subscription, Assignment before = {}) {
        subscriptions.push_back(std::move(subscription));
        previous.push_back(std::move(before));
    }
    [[nodiscard]] GroupAssignment assign(Assignor assignor) const {
        // Assignors are told only about topics that a member wants.
        std::vector<GroupSpec::Topic> wanted;
        std::vector<std::uint32_t> place(topics.size());
        for (std::uint32_t topic = 0; topic < topics.size(); ++topic) {
            place[topic] = static_cast<std::uint32_t>(wanted.size());
            if (std::ranges::any_of(subscriptions, [&](const auto& one) { return std::ranges::binary_search(one, topic); })) {
                wanted.push_back(topics[topic]);
            }
        }
        std::vector<std::vector<std::uint32_t>> moved = subscriptions;
        for (auto& subscription : moved) {
            for (std::uint32_t& topic : subscription) {
                topic = place[topic];
            }
        }
        std::vector<GroupSpec::Member> members;
        bool is_homogeneous = true;
        for (std::size_t i = 0; i < subscriptions.size(); ++i) {
            members.push_back({moved[i], &previous[i]});
            is_homogeneous &= subscriptions[i] == subscriptions[0];
        }
        return assignor({wanted, members, is_homogeneous});
    }
    /// Counts partitions that moved away from a member that could have kept them.
    [[nodiscard]] std::size_t moves(const GroupAssignment& after) const {
        std::size_t moves = 0;
        for (std::size_t i = 0; i < previous.size(); ++i) {
            for (const TopicPartitions& topic : previous[i]) {
                const TopicPartitions* kept = find_topic(after[i], topic.topic_id);
                for (const std::int32_t partition : topic.partitions) {
                    moves += kept == nullptr || !std::ranges::binary_search(kept->partitions, partition) ? 1 : 0;
                }
            }
        }
        return moves;
    }
    /// Expects that every partition of every subscribed topic has exactly one owner, which wants it.
    void expect_complete(const GroupAssignment& after) const {
        std::map<TopicId, std::vector<bool>> owned;
        for (std::size_t i = 0; i < after.size(); ++i) {
            EXPECT_EQ(after[i], normalized(after[i]));
            for (const TopicPartitions& topic : after[i]) {
                const auto index = static_cast<std::uint32_t>(
                    std::ranges::find(topics, topic.topic_id, &GroupSpec::Topic::topic_id) - topics.begin());
                ASSERT_TRUE(std::ranges::binary_search(subscriptions[i], index));
                auto& taken = owned[topic.topic_id];
                taken.resize(static_cast<std::size_t>(topics[index].partition_count));
                for (const std::int32_t partition : topic.partitions) {
                    ASSERT_LT(partition, topics[index].partition_count);
                    EXPECT_FALSE(taken[static_cast<std::size_t>(partition)]) << "assigned twice";
                    taken[static_cast<std::size_t>(partition)] = true;
                }
            }
        }
        for (std::uint32_t index = 0; index < topics.size(); ++index) {
            const bool wanted = std::ranges::any_of(
                subscriptions, [&](const auto& subscription) { return std::ranges::binary_search(subscription, index); });
            EXPECT_EQ(wanted && topics[index].partition_count > 0,
                      owned.contains(topics[index].topic_id) && std::ranges::count(owned[topics[index].topic_id], false) == 0);
        }
    }
};

std::size_t squares(const GroupAssignment& assignment) {
    std::size_t sum = 0;
    for (const Assignment& one : assignment) {
        sum += partition_count(one) * partition_count(one);
    }
    return sum;
}

std::vector<std::int32_t> numbers(const std::string& text) {
    std::vector<std::int32_t> result;
    std::stringstream in(text);
    for (std::string one; std::getline(in, one, ',');) {
        result.push_back(std::stoi(one));
    }
    return result;
}

Assignment read_assignment(const std::string& text) {
    Assignment result;
    if (text == "-") {
        return result;
    }
    std::stringstream in(text);
    for (std::string topic; std::getline(in, topic, ';');) {
        const std::size_t colon = topic.find(':');
        result.push_back({test::TestCluster::id(static_cast<std::uint32_t>(std::stoi(topic.substr(0, colon)) + 1)),
                          numbers(topic.substr(colon + 1))});
    }
    return normalized(std::move(result));
}

std::string text(const GroupAssignment& assignment) {
    std::string out;
    for (const Assignment& one : assignment) {
        out += "\n";
        for (const TopicPartitions& topic : one) {
            out += " " + std::to_string(topic.topic_id.bytes[15] - 1) + ":";
            for (const std::int32_t partition : topic.partitions) {
                out += std::to_string(partition) + ",";
            }
        }
    }
    return out;
}

/// Groups, and the assignments that Apache Kafka 4.3.1 made for them.
struct Golden {
    std::string assignor;
    TestGroup group;
    GroupAssignment kafkas;
};

std::vector<Golden> read_golden() {
    std::ifstream in(test::tests_directory() / "golden/assignors/kafka-4.3.1.txt");
    std::vector<Golden> scenarios;
    for (std::string line; std::getline(in, line);) {
        std::stringstream words(line);
        std::string kind;
        words >> kind;
        if (kind == "scenario") {
            Golden& scenario = scenarios.emplace_back();
            std::string counts;
            words >> scenario.assignor >> counts;
            scenario.group.add_topics(numbers(counts));
        } else {
            std::string subscription;
            std::string before;
            std::string after;
            words >> subscription >> before >> after;
            std::vector<std::uint32_t> topics;
            for (const std::int32_t topic : numbers(subscription)) {
                topics.push_back(static_cast<std::uint32_t>(topic));
            }
            scenarios.back().group.add_member(std::move(topics), read_assignment(before));
            scenarios.back().kafkas.push_back(read_assignment(after));
        }
    }
    return scenarios;
}

TEST(Assignors, RangeDividesAsKafkaDoes) {
    std::size_t seen = 0;
    for (const Golden& golden : read_golden()) {
        if (golden.assignor == "range") {
            const GroupAssignment mine = golden.group.assign(assign_ranges);
            golden.group.expect_complete(mine);
            EXPECT_EQ(text(mine), text(golden.kafkas)) << "scenario " << seen << ", before:" << text(golden.group.previous);
            ++seen;
        }
    }
    EXPECT_EQ(seen, 80u);
}

TEST(Assignors, UniformIsAsBalancedAndAsStickyAsKafkas) {
    std::size_t seen = 0;
    for (const Golden& golden : read_golden()) {
        if (golden.assignor == "uniform") {
            const GroupAssignment mine = golden.group.assign(assign_uniformly);
            golden.group.expect_complete(mine);
            EXPECT_LE(squares(mine), squares(golden.kafkas)) << "scenario " << seen;
            if (squares(mine) == squares(golden.kafkas)) {
                EXPECT_LE(golden.group.moves(mine), golden.group.moves(golden.kafkas)) << "scenario " << seen;
            }
            ++seen;
        }
    }
    EXPECT_EQ(seen, 160u);
}

TEST(Assignors, NothingMovesInAnUnchangedGroup) {
    for (const Assignor assignor : {assign_uniformly, assign_ranges}) {
        for (Golden& golden : read_golden()) {
            const GroupAssignment first = golden.group.assign(assignor);
            golden.group.previous = first;
            EXPECT_EQ(text(golden.group.assign(assignor)), text(first));
        }
    }
}

TEST(Assignors, PartitionsBeyondTheCountAndTopicsThatAreGoneAreTakenAway) {
    TestGroup group;
    group.add_topics({2});
    group.add_member({0}, {{test::TestCluster::id(1), {0, 1, 2, 3}}, {test::TestCluster::id(9), {0}}});
    group.add_member({0});
    for (const Assignor assignor : {assign_uniformly, assign_ranges}) {
        group.expect_complete(group.assign(assignor));
    }
}

TEST(Assignors, GroupWithoutMembersOrTopicsGetsNothing) {
    TestGroup group;
    EXPECT_TRUE(group.assign(assign_uniformly).empty());
    group.add_member({});
    EXPECT_EQ(group.assign(assign_uniformly), GroupAssignment(1));
    EXPECT_EQ(group.assign(assign_ranges), GroupAssignment(1));
}

TEST(Assignors, RangesOfEqualTopicsAreAlike) {
    TestGroup group;
    group.add_topics({7, 7});
    for (int i = 0; i < 3; ++i) {
        group.add_member({0, 1});
    }
    for (const Assignment& one : group.assign(assign_ranges)) {
        ASSERT_EQ(one.size(), 2u);
        EXPECT_EQ(one[0].partitions, one[1].partitions);
    }
}

TEST(Assignors, ThousandMembersAndTenThousandPartitionsAreQuick) {
    TestGroup group;
    group.add_topics(std::vector<std::int32_t>(10, 1'000));
    for (int i = 0; i < 1'000; ++i) {
        group.add_member({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    }
    for (const Assignor assignor : {assign_uniformly, assign_ranges}) {
        group.previous = group.assign(assignor);
        // One member comes, and one leaves.
        group.previous[17].clear();
        const auto start = test::processor_time_of_thread();
        const GroupAssignment after = group.assign(assignor);
        const auto took = test::processor_time_of_thread() - start;
        group.expect_complete(after);
        if (assignor == Assignor(assign_uniformly)) {
            EXPECT_LE(group.moves(after), 20u);
        }
        // Four milliseconds; the bound is for slow machines and sanitizers.
        EXPECT_LT(std::chrono::duration_cast<std::chrono::milliseconds>(took).count(), 1'000);
        RecordProperty("microseconds", std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(took).count()));
    }
}

TEST(Assignors, ThousandDifferentMembersAreQuickToo) {
    TestGroup group;
    group.add_topics(std::vector<std::int32_t>(100, 100));
    for (std::uint32_t i = 0; i < 1'000; ++i) {
        std::vector<std::uint32_t> topics;
        for (std::uint32_t topic = i % 7; topic < 100; topic += 1 + i % 5) {
            topics.push_back(topic);
        }
        group.add_member(std::move(topics));
    }
    const auto start = test::processor_time_of_thread();
    const GroupAssignment after = group.assign(assign_uniformly);
    const auto took = test::processor_time_of_thread() - start;
    group.expect_complete(after);
    EXPECT_LT(std::chrono::duration_cast<std::chrono::milliseconds>(took).count(), 2'000);
}

TEST(Uniform, PartitionsOfTwoGoalsOrOfNoneAreGivenOnce) {
    for (const bool is_homogeneous : {true, false}) {
        TestGroup group;
        group.add_topics({4, 2});
        const Assignment goal{{group.topics[0].topic_id, {-7, 0, 1, 2, 99}}};
        group.add_member({0, 1}, goal);
        group.add_member({0, 1}, goal);
        group.add_member(is_homogeneous ? std::vector<std::uint32_t>{0, 1} : std::vector<std::uint32_t>{0}, goal);
        const GroupAssignment after = group.assign(assign_uniformly);
        group.expect_complete(after);
        EXPECT_EQ(find_topic(after[0], goal[0].topic_id)->partitions.front(), 0) << "the first one keeps what it had";
    }
}

}  // namespace
}  // namespace partita::assignors
