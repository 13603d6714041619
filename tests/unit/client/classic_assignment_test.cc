// Tests the messages of classic consumers to each other, and how the leader divides partitions.

#include "broker/client/classic_assignment.h"

#include <gmock/gmock.h>

namespace partita::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

ClassicMember wants(std::string id, std::vector<std::string> topics, std::vector<TopicPartition> owned = {},
                    std::int32_t generation = -1) {
    return {std::move(id), std::nullopt, {std::move(topics), std::move(owned), generation}};
}

TEST(ClassicAssignment, RangesAreAdjacentAndFirstMembersHaveOneMore) {
    const std::vector<ClassicMember> members{wants("b", {"t", "u"}), wants("a", {"t", "u"})};
    auto assigned = assign_classic(ClassicAssignor::range, members, {{"t", 3}, {"u", 2}});
    EXPECT_THAT(assigned["a"], ElementsAre(TopicPartition{"t", 0}, TopicPartition{"t", 1}, TopicPartition{"u", 0}));
    EXPECT_THAT(assigned["b"], ElementsAre(TopicPartition{"t", 2}, TopicPartition{"u", 1}));
}

TEST(ClassicAssignment, StaticMembersComeBeforeOthersWhateverTheirIdsAre) {
    std::vector<ClassicMember> members{wants("a", {"t"}), wants("z", {"t"})};
    members[1].instance_id = "static";
    auto assigned = assign_classic(ClassicAssignor::range, members, {{"t", 2}});
    EXPECT_THAT(assigned["z"], ElementsAre(TopicPartition{"t", 0}));
}

TEST(ClassicAssignment, RoundRobinPassesOverMembersThatDoNotWantATopic) {
    const std::vector<ClassicMember> members{wants("a", {"t"}), wants("b", {"t", "u"})};
    auto assigned = assign_classic(ClassicAssignor::round_robin, members, {{"t", 3}, {"u", 2}});
    EXPECT_THAT(assigned["a"], ElementsAre(TopicPartition{"t", 0}, TopicPartition{"t", 2}));
    EXPECT_THAT(assigned["b"], ElementsAre(TopicPartition{"t", 1}, TopicPartition{"u", 0}, TopicPartition{"u", 1}));
}

TEST(ClassicAssignment, CooperativelyNobodyIsGivenWhatAnotherStillHolds) {
    const std::vector<TopicPartition> all{{"t", 0}, {"t", 1}, {"t", 2}, {"t", 3}};
    auto first = assign_classic(ClassicAssignor::cooperative_sticky,
                                std::vector{wants("old", {"t"}, all, 4), wants("new", {"t"})}, {{"t", 4}});
    ASSERT_EQ(first["old"].size(), 2U);
    EXPECT_THAT(first["new"], IsEmpty());
    // When the old member joins without them they are free, and what it kept stays where it is.
    const auto kept = first["old"];
    auto second = assign_classic(ClassicAssignor::cooperative_sticky,
                                 std::vector{wants("old", {"t"}, kept, 5), wants("new", {"t"}, {}, 5)}, {{"t", 4}});
    EXPECT_EQ(second["old"], kept);
    EXPECT_EQ(second["new"].size(), 2U);
}

TEST(ClassicAssignment, OfTwoClaimsTheYoungerOneCountsAndNoneOfOneGeneration) {
    const std::vector<TopicPartition> one{{"t", 0}};
    auto younger = assign_classic(ClassicAssignor::cooperative_sticky,
                                  std::vector{wants("a", {"t"}, one, 3), wants("b", {"t"}, one, 4)}, {{"t", 1}});
    EXPECT_THAT(younger["b"], ElementsAre(TopicPartition{"t", 0}));
    auto same = assign_classic(ClassicAssignor::cooperative_sticky,
                               std::vector{wants("a", {"t"}, one, 4), wants("b", {"t"}, one, 4)}, {{"t", 1}});
    EXPECT_EQ(same["a"].size() + same["b"].size(), 1U);
}

TEST(ClassicAssignment, TopicsThatAreNotThereAndPartitionsThatAreGoneAreLeftOut) {
    for (const auto assignor : {ClassicAssignor::range, ClassicAssignor::round_robin, ClassicAssignor::cooperative_sticky}) {
        const std::vector<ClassicMember> members{wants("a", {"gone", "t"}, {{"gone", 0}, {"t", 7}}, 1)};
        EXPECT_THAT(assign_classic(assignor, members, {{"t", 1}, {"nobody's", 4}})["a"], ElementsAre(TopicPartition{"t", 0}));
        EXPECT_THAT(assign_classic(assignor, members, {})["a"], IsEmpty());
    }
}

TEST(ClassicAssignment, ASubscriptionIsReadAsItWasWritten) {
    const ClassicSubscription written{{"a", "b"}, {{"a", 0}, {"a", 3}, {"b", 1}}, 7};
    const auto read = decode_subscription(encode_subscription(written, ClassicAssignor::cooperative_sticky));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->topics, written.topics);
    EXPECT_EQ(read->owned, written.owned);
    EXPECT_EQ(read->generation, 7);
    const auto assigned = decode_assignment(encode_assignment(written.owned));
    ASSERT_TRUE(assigned);
    EXPECT_EQ(*assigned, written.owned);
    EXPECT_THAT(*decode_assignment({}), IsEmpty());
}

TEST(ClassicAssignment, ANewerVersionBeginsAsTheNewestKnownOne) {
    auto bytes = encode_subscription({{"a"}, {}, -1}, ClassicAssignor::range);
    bytes[1] = std::byte{99};
    bytes.push_back(std::byte{1});
    EXPECT_THAT(decode_subscription(bytes)->topics, ElementsAre("a"));
}

TEST(ClassicAssignment, BytesThatAreNoneOfItAreMalformed) {
    const std::vector<std::byte> cut = [] {
        auto bytes = encode_subscription({{"a"}, {}, -1}, ClassicAssignor::range);
        bytes.resize(5);
        return bytes;
    }();
    EXPECT_EQ(decode_subscription(cut).error().kind, Failure::Kind::malformed);
    EXPECT_EQ(decode_subscription({}).error().kind, Failure::Kind::malformed);
    EXPECT_EQ(decode_assignment(Bytes(cut).first(1)).error().kind, Failure::Kind::malformed);
}

TEST(ClassicAssignment, KafkasNamesOfAssignorsAreKnown) {
    EXPECT_EQ(parse_classic_assignor("org.apache.kafka.clients.consumer.RoundRobinAssignor"), ClassicAssignor::round_robin);
    EXPECT_EQ(parse_classic_assignor("cooperative-sticky"), ClassicAssignor::cooperative_sticky);
    EXPECT_EQ(parse_classic_assignor("sticky"), std::nullopt);
}

}  // namespace
}  // namespace partita::client
