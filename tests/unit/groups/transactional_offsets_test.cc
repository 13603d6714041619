// Tests offsets that are committed as part of a transaction (TxnOffsetCommit).

#include <gmock/gmock.h>

#include "tests/unit/groups/consumer_fixture.h"

namespace partita::groups::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

using Moved = TransactionCommit::Partition;

constexpr bool kCommit = true;
constexpr bool kAbort = false;

class TransactionalOffsets : public ConsumerFixture {
  protected:
    /// Fetches an offset as a client that wants to know whether the offset may still change.
    OffsetFetchResult::Partition stable(std::int32_t partition) {
        require_stable_ = true;
        auto result = fetch("g", "topic", {partition}).topics.at(0).partitions.at(0);
        require_stable_ = false;
        return result;
    }
};

TEST_F(TransactionalOffsets, CountWhenTheirTransactionIsCommitted) {
    ASSERT_EQ(commit_in_transaction(1, {.offsets = {{0, 7}, {1, 8}}, .metadata = "m"}).error, ErrorCode::none);
    EXPECT_EQ(committed("topic", 0), -1);
    const auto commits = end_transaction(1, kCommit);
    ASSERT_EQ(commits.size(), 1u);
    EXPECT_EQ(commits[0].group_id, "g");
    EXPECT_EQ(commits[0].topic, "topic");
    EXPECT_THAT(commits[0].partitions, ElementsAre(Moved{{0}, {7}, std::nullopt}, Moved{{1}, {8}, std::nullopt}));
    EXPECT_EQ(committed("topic", 0), 7);
    const auto partition = fetch("g", "topic", {1}).topics.at(0).partitions.at(0);
    EXPECT_EQ(partition.offset.value, 8);
    EXPECT_EQ(partition.metadata, "m");
    EXPECT_EQ(partition.leader_epoch.value, 3);
}

TEST_F(TransactionalOffsets, AreToldWithWhatTheyReplacedUnlessSomebodySupersededThem) {
    commit({.offsets = {{0, 3}}});
    ASSERT_EQ(commit_in_transaction(1, {.offsets = {{0, 7}, {1, 8}}}).error, ErrorCode::none);
    commit({.offsets = {{0, 4}, {1, 9}}});
    ASSERT_EQ(commit_in_transaction(1, {.offsets = {{0, 10}}}).error, ErrorCode::none);
    const auto commits = end_transaction(1, kCommit);
    ASSERT_EQ(commits.size(), 1u);
    EXPECT_THAT(commits[0].partitions, ElementsAre(Moved{{0}, {10}, Offset{4}}));
}

TEST_F(TransactionalOffsets, ReplaceNothingOfAnEarlierTopicOfTheName) {
    const TopicId gone{{1}};
    const TopicId present{{2}};
    commit({.topic_id = gone, .offsets = {{0, 3}}});
    commit({.topic_id = present, .offsets = {{1, 4}}});
    ASSERT_EQ(commit_in_transaction(1, {.topic_id = present, .offsets = {{0, 7}, {1, 8}}}).error, ErrorCode::none);
    const auto commits = end_transaction(1, kCommit);
    ASSERT_EQ(commits.size(), 1u);
    EXPECT_THAT(commits[0].partitions, ElementsAre(Moved{{0}, {7}, std::nullopt}, Moved{{1}, {8}, Offset{4}}));
}

TEST_F(TransactionalOffsets, AreNothingWhenItIsAborted) {
    commit({.offsets = {{0, 3}}});
    ASSERT_EQ(commit_in_transaction(1, {.offsets = {{0, 7}, {1, 8}}}).error, ErrorCode::none);
    EXPECT_THAT(end_transaction(1, kAbort), IsEmpty());
    EXPECT_EQ(committed("topic", 0), 3);
    EXPECT_EQ(committed("topic", 1), -1);
}

TEST_F(TransactionalOffsets, AreUnstableUntilItEnds) {
    commit({.offsets = {{0, 3}, {1, 4}}});
    ASSERT_EQ(commit_in_transaction(1, {.offsets = {{0, 7}}}).error, ErrorCode::none);
    EXPECT_EQ(stable(0).error, ErrorCode::unstable_offset_commit);
    EXPECT_EQ(stable(0).offset, kNoOffset);
    EXPECT_EQ(stable(1).offset.value, 4);
    EXPECT_EQ(committed("topic", 0), 3) << "who does not ask for stable offsets reads what is committed";
    end_transaction(1, kCommit);
    EXPECT_EQ(stable(0).error, ErrorCode::none);
    EXPECT_EQ(stable(0).offset.value, 7);
}

TEST_F(TransactionalOffsets, AreUnstableInAFetchOfEverythingThatIsCommitted) {
    commit({.offsets = {{0, 3}, {1, 4}}});
    ASSERT_EQ(commit_in_transaction(1, {.offsets = {{0, 7}, {2, 9}}}).error, ErrorCode::none);
    require_stable_ = true;
    const auto topics = fetch_all("g").topics;
    ASSERT_EQ(topics.size(), 1U);
    ASSERT_EQ(topics[0].partitions.size(), 2U) << "where nothing is committed there is nothing to tell of";
    EXPECT_EQ(topics[0].partitions[0].error, ErrorCode::unstable_offset_commit);
    EXPECT_EQ(topics[0].partitions[1].offset.value, 4);
}

TEST_F(TransactionalOffsets, OfSeveralTransactionsEndEachWithItsOwn) {
    ASSERT_EQ(commit_in_transaction(1, {.offsets = {{0, 7}}}).error, ErrorCode::none);
    ASSERT_EQ(commit_in_transaction(2, {.offsets = {{0, 9}, {1, 9}}}).error, ErrorCode::none);
    end_transaction(2, kAbort);
    EXPECT_EQ(stable(0).error, ErrorCode::unstable_offset_commit);
    EXPECT_EQ(stable(1).error, ErrorCode::none);
    end_transaction(1, kCommit);
    EXPECT_EQ(stable(0).offset.value, 7);
}

TEST_F(TransactionalOffsets, OfSeveralGroupsEndTogether) {
    ASSERT_EQ(commit_in_transaction(1, {.group = "g", .topic = "topic"}).error, ErrorCode::none);
    ASSERT_EQ(commit_in_transaction(1, {.group = "h", .topic = "other"}).error, ErrorCode::none);
    EXPECT_THAT(end_transaction(1, kCommit),
                ElementsAre(Field(&TransactionCommit::group_id, "g"), Field(&TransactionCommit::group_id, "h")));
    EXPECT_EQ(committed("topic", 0, "g"), 7);
    EXPECT_EQ(committed("other", 0, "h"), 7);
    EXPECT_THAT(end_transaction(1, kCommit), IsEmpty());
}

TEST_F(TransactionalOffsets, ALaterOneOfTheSameTransactionReplacesTheFirst) {
    ASSERT_EQ(commit_in_transaction(1, {.offsets = {{0, 7}}}).error, ErrorCode::none);
    ASSERT_EQ(commit_in_transaction(1, {.offsets = {{0, 6}}}).error, ErrorCode::none);
    end_transaction(1, kCommit);
    EXPECT_EQ(committed("topic", 0), 6);
}

TEST_F(TransactionalOffsets, ACommitMadeMeanwhileIsTheNewerOne) {
    ASSERT_EQ(commit_in_transaction(1, {.offsets = {{0, 7}}}).error, ErrorCode::none);
    commit({.offsets = {{0, 5}}});
    EXPECT_EQ(stable(0).error, ErrorCode::unstable_offset_commit);
    end_transaction(1, kCommit);
    EXPECT_EQ(committed("topic", 0), 5);
}

TEST_F(TransactionalOffsets, OfTwoTransactionsCountInTheOrderOfTheirRecords) {
    for (const std::int64_t first_to_end : {1, 2}) {
        ASSERT_EQ(commit_in_transaction(1, {.offsets = {{0, 5}}}).error, ErrorCode::none);
        ASSERT_EQ(commit_in_transaction(2, {.offsets = {{0, 6}}}).error, ErrorCode::none);
        end_transaction(first_to_end, kCommit);
        EXPECT_EQ(committed("topic", 0), first_to_end == 1 ? 5 : 6);
        end_transaction(3 - first_to_end, kCommit);
        EXPECT_EQ(committed("topic", 0), 6) << "ended first: " << first_to_end;
    }
}

TEST_F(TransactionalOffsets, ADeletionTakesThemAlong) {
    commit({.offsets = {{0, 3}}});
    ASSERT_EQ(commit_in_transaction(1, {.offsets = {{0, 7}}}).error, ErrorCode::none);
    delete_offsets("g", "topic", {0});
    EXPECT_EQ(stable(0).error, ErrorCode::none);
    end_transaction(1, kCommit);
    EXPECT_EQ(committed("topic", 0), -1);
}

TEST_F(TransactionalOffsets, ADeletionTakesThoseAlongThatReplaceNothing) {
    commit({.offsets = {{1, 3}}});
    ASSERT_EQ(commit_in_transaction(1, {.offsets = {{0, 7}}}).error, ErrorCode::none);
    delete_offsets("g", "topic", {0});
    EXPECT_EQ(stable(0).error, ErrorCode::none);
    EXPECT_THAT(end_transaction(1, kCommit), IsEmpty());
}

TEST_F(TransactionalOffsets, GoWithTheirTopic) {
    ASSERT_EQ(commit_in_transaction(1, {.offsets = {{0, 7}}}).error, ErrorCode::none);
    delete_topic("topic", {});
    end_transaction(1, kCommit);
    EXPECT_EQ(committed("topic", 0), -1);
}

TEST_F(TransactionalOffsets, GoWithTheirGroup) {
    commit({.offsets = {{1, 3}}});
    ASSERT_EQ(commit_in_transaction(1, {.offsets = {{0, 7}}}).error, ErrorCode::none);
    EXPECT_EQ(delete_group("g"), ErrorCode::none);
    end_transaction(1, kCommit);
    EXPECT_EQ(committed("topic", 0), -1);
    EXPECT_THAT(list(), IsEmpty());
}

TEST_F(TransactionalOffsets, KeepTheirGroupAndWhatTheyMayReplaceFromExpiring) {
    commit({.offsets = {{0, 3}, {1, 3}}});
    ASSERT_EQ(commit_in_transaction(1, {.group = "g", .offsets = {{0, 7}}}).error, ErrorCode::none);
    ASSERT_EQ(commit_in_transaction(1, {.group = "h", .offsets = {{0, 7}}}).error, ErrorCode::none);
    advance_ms(config_.offsets_retention_ms + 2 * config_.offsets_retention_check_interval_ms);
    EXPECT_EQ(committed("topic", 0), 3);
    EXPECT_EQ(committed("topic", 1), -1);
    end_transaction(1, kAbort);
    advance_ms(2 * config_.offsets_retention_check_interval_ms);
    EXPECT_EQ(committed("topic", 0), -1);
    EXPECT_THAT(list(), IsEmpty());
}

TEST_F(TransactionalOffsets, SurviveARestart) {
    commit({.offsets = {{1, 3}}});
    ASSERT_EQ(commit_in_transaction(1, {.offsets = {{0, 7}, {1, 8}}}).error, ErrorCode::none);
    commit({.offsets = {{1, 4}}});
    crash_and_restart();
    EXPECT_EQ(stable(0).error, ErrorCode::unstable_offset_commit);
    end_transaction(1, kCommit);
    EXPECT_EQ(committed("topic", 0), 7);
    EXPECT_EQ(committed("topic", 1), 4);
    crash_and_restart();
    EXPECT_EQ(committed("topic", 0), 7);
    EXPECT_EQ(committed("topic", 1), 4);
}

TEST_F(TransactionalOffsets, TooLongMetadataIsRefusedForItsPartition) {
    const auto result = commit_in_transaction(1, {.metadata = std::string(5000, 'x')});
    EXPECT_EQ(result.error, ErrorCode::none);
    EXPECT_THAT(result.partition_errors, ElementsAre(ErrorCode::offset_metadata_too_large));
    EXPECT_THAT(end_transaction(1, kCommit), IsEmpty());
}

// Permission to commit. ------------------------------------------------------------------------------------------------

TEST_F(TransactionalOffsets, OfAnUnknownGroupNeedNoGeneration) {
    EXPECT_EQ(commit_in_transaction(1, {.generation = 0}).error, ErrorCode::illegal_generation);
    EXPECT_EQ(commit_in_transaction(1, {.generation = -1}).error, ErrorCode::none);
}

TEST_F(TransactionalOffsets, OfAClassicGroupAreCheckedWhenTheySayWhoTheyAre) {
    const std::string member = stable_group(1).front();
    EXPECT_EQ(commit_in_transaction(1, {.member = member, .generation = 1}).error, ErrorCode::none);
    EXPECT_EQ(commit_in_transaction(1, {.member = member, .generation = 2}).error, ErrorCode::illegal_generation);
    EXPECT_EQ(commit_in_transaction(1, {.member = "nobody", .generation = 1}).error, ErrorCode::unknown_member_id);
    // Old producers do not send the generation.
    EXPECT_EQ(commit_in_transaction(1, {}).error, ErrorCode::none);
    EXPECT_EQ(commit({}).error, ErrorCode::unknown_member_id);
}

TEST_F(TransactionalOffsets, AreTakenWhileAClassicGroupWaitsForItsAssignment) {
    Joining joining;
    joining.id = fresh_id();
    const ReplyToken token = join(joining);
    advance_ms(config_.initial_rebalance_delay_ms);
    ASSERT_EQ(joined(token).error, ErrorCode::none);
    ASSERT_EQ(state(), GroupState::completing_rebalance);
    EXPECT_EQ(commit({.member = joining.id, .generation = 1}).error, ErrorCode::rebalance_in_progress);
    EXPECT_EQ(commit_in_transaction(1, {.member = joining.id, .generation = 1}).error, ErrorCode::none);
}

TEST_F(TransactionalOffsets, OfAConsumerGroupAreCheckedWhenTheySayWhoTheyAre) {
    const auto first = beat(joining("m1"));
    ASSERT_EQ(first.error, ErrorCode::none);
    const std::int32_t epoch = first.member_epoch;
    EXPECT_EQ(commit_in_transaction(1, {.member = "m1", .generation = epoch}).error, ErrorCode::none);
    EXPECT_EQ(commit_in_transaction(1, {.member = "m1", .generation = epoch + 1}).error, ErrorCode::illegal_generation)
        << "STALE_MEMBER_EPOCH is not known to this request";
    EXPECT_EQ(commit_in_transaction(1, {.member = "m2", .generation = epoch}).error, ErrorCode::unknown_member_id);
    EXPECT_EQ(commit_in_transaction(1, {.generation = -1}).error, ErrorCode::none);
}

}  // namespace
}  // namespace partita::groups::testing
