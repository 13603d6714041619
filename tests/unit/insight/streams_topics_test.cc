#include "broker/insight/plan/streams_topics.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace partita::insight {
namespace {

using Groups = std::map<std::string, std::string, std::less<>>;

std::optional<std::string> owner(std::string_view topic, const Groups& groups, std::vector<std::string>* asked = nullptr) {
    return owning_application(topic, [&](std::string_view group_id) -> std::optional<std::string> {
        if (asked != nullptr) {
            asked->emplace_back(group_id);
        }
        const auto found = groups.find(group_id);
        return found == groups.end() ? std::nullopt : std::optional(found->second);
    });
}

TEST(StreamsTopics, BelongToTheApplicationWhoseIdTheirNameBeginsWith) {
    EXPECT_EQ(owner("app-by-key-changelog", {{"app", "stream"}, {"other", "stream"}}), "app");
    EXPECT_EQ(owner("my-app-KSTREAM-AGGREGATE-STATE-STORE-0000000003-repartition", {{"my-app", "stream"}}), "my-app");
    EXPECT_EQ(owner("app-by-key-changelog", {{"ap", "stream"}}), std::nullopt);
    EXPECT_EQ(owner("app-changelog", {{"app", "stream"}}), "app");
}

TEST(StreamsTopics, OfSeveralGroupsTheRunningApplicationIsTheOwner) {
    EXPECT_EQ(owner("a-b-c-changelog", {{"a", "stream"}, {"a-b", "range"}}), "a");
    EXPECT_EQ(owner("a-b-c-changelog", {{"a", "stream"}, {"a-b", "stream"}}), "a-b");
}

TEST(StreamsTopics, AStoppedApplicationIsKnownByItsGroup) {
    EXPECT_EQ(owner("a-b-c-changelog", {{"a", ""}, {"a-b", ""}}), "a-b");
    EXPECT_EQ(owner("a-b-c-changelog", {}), std::nullopt);
}

TEST(StreamsTopics, OtherTopicsAskNobody) {
    std::vector<std::string> asked;
    EXPECT_EQ(owner("app-orders", {{"app", "stream"}}, &asked), std::nullopt);
    EXPECT_EQ(owner("changelog", {{"", "stream"}}, &asked), std::nullopt);
    EXPECT_EQ(owner("-changelog", {{"", "stream"}}, &asked), std::nullopt);
    EXPECT_TRUE(asked.empty());
}

TEST(StreamsTopics, EveryDashIsAskedForOnce) {
    std::vector<std::string> asked;
    std::string topic(100, '-');
    topic += "changelog";
    (void)owner(topic, {}, &asked);
    EXPECT_EQ(asked.size(), 99U);
}

TEST(StreamsTopics, AreTheApplicationsOwnWhenADashFollowsItsId) {
    EXPECT_TRUE(is_streams_internal_topic_of("app-store-changelog", "app"));
    EXPECT_FALSE(is_streams_internal_topic_of("application-store-changelog", "app"));
    EXPECT_FALSE(is_streams_internal_topic_of("app-orders", "app"));
}

}  // namespace
}  // namespace partita::insight
