#include "broker/catalog/topic_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "broker/catalog/catalog.h"
#include "tests/unit/catalog/catalog_fixture.h"

namespace partita::catalog {
namespace {

TopicPointer make_topic(std::string name, TopicId id, std::int32_t partitions = 1) {
    auto topic = std::make_shared<Topic>();
    topic->name = std::move(name);
    topic->id = id;
    topic->partition_count = partitions;
    return topic;
}

void expect_equal(const TopicIndex& index, const std::map<std::string, TopicPointer>& model) {
    ASSERT_EQ(index.size(), model.size());
    auto expected = model.begin();
    for (const Topic& topic : index) {
        ASSERT_EQ(&topic, expected->second.get()) << topic.name;
        ++expected;
    }
    ASSERT_EQ(expected, model.end());
    for (const auto& [name, topic] : model) {
        ASSERT_EQ(index.find(name), topic);
        ASSERT_EQ(index.find(topic->id), topic);
    }
}

TEST(TopicIndex, EqualsAMapUnderRandomEditsAndLeavesOldCopiesAlone) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        TestTopicIds ids;
        TopicIndex index;
        std::map<std::string, TopicPointer> model;
        TopicIndex kept;
        std::map<std::string, TopicPointer> kept_model;
        for (int step = 0; step < 1500; ++step) {
            const std::string name = "topic." + std::to_string(random() % 400);
            const auto found = model.find(name);
            if (found == model.end()) {
                TopicPointer topic = make_topic(name, ids());
                index.insert(topic);
                model[name] = topic;
            } else if (random() % 2 == 0) {
                TopicPointer topic = make_topic(name, found->second->id, 9);
                index.replace(topic);
                found->second = topic;
            } else {
                index.erase(*found->second);
                model.erase(found);
            }
            if (step == 700) {
                kept = index;
                kept_model = model;
            }
        }
        expect_equal(index, model);
        expect_equal(kept, kept_model);
        for (int probe = 0; probe < 50; ++probe) {
            const std::string name = "topic." + std::to_string(random() % 500);
            const auto expected = model.lower_bound(name);
            const auto actual = index.lower_bound(name);
            ASSERT_EQ(actual == index.end(), expected == model.end());
            if (expected == model.end()) {
                continue;
            }
            ASSERT_EQ(&*actual, expected->second.get());
        }
    }
}

TEST(TopicIndex, BuiltAtOnceEqualsBuiltByInserts) {
    TestTopicIds ids;
    std::vector<TopicPointer> topics;
    std::map<std::string, TopicPointer> model;
    for (int number = 0; number < 10000; ++number) {
        topics.push_back(make_topic((number % 2 == 0 ? "t." : "t") + std::to_string(number), ids()));
        model[topics.back()->name] = topics.back();
    }
    TopicIndex index(topics);
    expect_equal(index, model);
    EXPECT_EQ(index.find_colliding("t_2")->name, "t.2");
    TopicPointer more = make_topic("zz", ids());
    index.insert(more);
    model["zz"] = more;
    expect_equal(index, model);
}

TEST(TopicIndex, FindsTheFirstCollidingNameOnly) {
    TestTopicIds ids;
    TopicIndex index;
    for (const char* name : {"a.b_c", "a_b.c", "a-b-c", "ab"}) {
        index.insert(make_topic(name, ids()));
    }
    EXPECT_EQ(index.find_colliding("a.b.c")->name, "a.b_c");
    EXPECT_EQ(index.find_colliding("a.b_c")->name, "a_b.c");
    EXPECT_EQ(index.find_colliding("a-b-c"), nullptr);
    EXPECT_EQ(index.find_colliding("x"), nullptr);
}

}  // namespace
}  // namespace partita::catalog
