#include "broker/share/share_sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace partita::share {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const FetchedPartition kFirst{{{1}}, {0}};
const FetchedPartition kSecond{{{1}}, {1}};
const FetchedPartition kThird{{{2}}, {0}};

class ShareSessionsTest : public ::testing::Test {
  protected:
    bool begin(std::string_view member, std::uint64_t connection, std::vector<FetchedPartition> partitions = {kFirst}) {
        return sessions_.begin("g", member, connection, partitions, 2);
    }
    std::vector<FetchedPartition> go_on(std::string_view member, std::int32_t epoch, std::vector<FetchedPartition> asked = {},
                                        std::vector<FetchedPartition> forgotten = {}) {
        std::vector<FetchedPartition> names;
        const auto partitions = sessions_.go_on("g", member, epoch, asked, forgotten);
        EXPECT_TRUE(partitions.has_value());
        for (const SessionPartition& partition : partitions.value_or(std::vector<SessionPartition>())) {
            names.push_back(partition.name);
        }
        return names;
    }
    ErrorCode error(std::string_view member, std::int32_t epoch) {
        const auto partitions = sessions_.go_on("g", member, epoch, {}, {});
        return partitions ? ErrorCode::none : partitions.error();
    }

    ShareSessions sessions_;
};

TEST_F(ShareSessionsTest, LaterRequestsNameOnlyChanges) {
    ASSERT_TRUE(begin("m", 1, {kFirst, kSecond, kFirst}));
    EXPECT_THAT(go_on("m", 1), ElementsAre(kFirst, kSecond));
    EXPECT_THAT(go_on("m", 2, {kThird, kFirst}, {kSecond}), ElementsAre(kFirst, kThird));
    EXPECT_THAT(go_on("m", 3), ElementsAre(kFirst, kThird));
}

TEST_F(ShareSessionsTest, AWrongEpochIsRefused) {
    EXPECT_EQ(error("m", 1), ErrorCode::share_session_not_found);
    ASSERT_TRUE(begin("m", 1));
    EXPECT_EQ(error("m", 2), ErrorCode::invalid_share_session_epoch);
    EXPECT_EQ(error("m", 1), ErrorCode::none);
    EXPECT_EQ(error("m", 1), ErrorCode::invalid_share_session_epoch);
}

TEST_F(ShareSessionsTest, AcknowledgementsTakePartInTheEpochs) {
    EXPECT_EQ(sessions_.acknowledge("g", "m", 0), ErrorCode::invalid_share_session_epoch);
    EXPECT_EQ(sessions_.acknowledge("g", "m", 1), ErrorCode::share_session_not_found);
    ASSERT_TRUE(begin("m", 1));
    EXPECT_EQ(sessions_.acknowledge("g", "m", 1), ErrorCode::none);
    EXPECT_EQ(sessions_.acknowledge("g", "m", 1), ErrorCode::invalid_share_session_epoch);
    EXPECT_TRUE(sessions_.is_current("g", "m", 1));
    EXPECT_EQ(sessions_.acknowledge("g", "m", kFinalShareEpoch), ErrorCode::none);
    EXPECT_TRUE(sessions_.is_current("g", "m", 1));
}

TEST_F(ShareSessionsTest, TheNumberOfSessionsIsLimited) {
    ASSERT_TRUE(begin("m", 1));
    ASSERT_TRUE(begin("n", 2));
    EXPECT_FALSE(begin("o", 3));
    // A member that begins anew needs no further place.
    EXPECT_TRUE(begin("m", 1));
    EXPECT_EQ(sessions_.size(), 2u);
}

TEST_F(ShareSessionsTest, TheNumberOfPartitionsIsLimitedForASessionAndForAGroup) {
    std::vector<FetchedPartition> many;
    for (std::size_t i = 0; i < ShareSessions::kPartitionsMax; ++i) {
        many.push_back({{{9}}, {static_cast<std::int32_t>(i)}});
    }
    EXPECT_TRUE(begin("m", 1, many));
    const auto more = sessions_.go_on("g", "m", 1, std::vector{kFirst}, {});
    ASSERT_FALSE(more.has_value());
    EXPECT_EQ(more.error(), ErrorCode::share_session_limit_reached);
    // Forgotten partitions count until the group is idle, for the coordinator may still have their state.
    EXPECT_THAT(go_on("m", 1, {}, many), IsEmpty());
    EXPECT_FALSE(begin("n", 2));
    (void)sessions_.end("g", "m");
    EXPECT_TRUE(begin("n", 2));
}

TEST_F(ShareSessionsTest, APartitionWithRecordsGoesToTheEndOfTheLine) {
    ASSERT_TRUE(begin("m", 1, {kFirst, kSecond, kThird}));
    sessions_.answered("g", "m", {{kFirst}}, {{kThird}});
    EXPECT_THAT(go_on("m", 1), ElementsAre(kSecond, kThird, kFirst));
}

TEST_F(ShareSessionsTest, APartitionThatIsNewOrHadAnErrorIsAnsweredInAnyCase) {
    ASSERT_TRUE(begin("m", 1, {kFirst}));
    const std::vector<FetchedPartition> asked{kSecond};
    const auto partitions = sessions_.go_on("g", "m", 1, asked, {});
    EXPECT_FALSE(partitions->at(0).must_answer);
    EXPECT_TRUE(partitions->at(1).must_answer);
    sessions_.answered("g", "m", {}, {{kFirst}});
    const auto later = sessions_.go_on("g", "m", 2, {}, {});
    EXPECT_TRUE(later->at(0).must_answer);
    EXPECT_FALSE(later->at(1).must_answer);
}

TEST_F(ShareSessionsTest, TheEndOfAConnectionEndsItsSessions) {
    ASSERT_TRUE(begin("m", 1, {kFirst}));
    ASSERT_TRUE(begin("n", 2, {kSecond}));
    const auto first = sessions_.connection_ended(1);
    ASSERT_EQ(first.size(), 1u);
    EXPECT_EQ(first[0].member_id, "m");
    EXPECT_THAT(first[0].partitions, ElementsAre(kFirst));
    EXPECT_THAT(first[0].idle, IsEmpty());
    const auto second = sessions_.connection_ended(2);
    ASSERT_EQ(second.size(), 1u);
    EXPECT_THAT(second[0].idle, ElementsAre(kFirst, kSecond));
    EXPECT_THAT(sessions_.connection_ended(2), IsEmpty());
}

TEST_F(ShareSessionsTest, AMemberThatMovedToAnotherConnectionKeepsItsSession) {
    ASSERT_TRUE(begin("m", 1));
    ASSERT_TRUE(begin("m", 2));
    EXPECT_THAT(sessions_.connection_ended(1), IsEmpty());
    EXPECT_TRUE(sessions_.has("g", "m"));
    const auto ended = sessions_.end("g", "m");
    EXPECT_THAT(ended.partitions, ElementsAre(kFirst));
    EXPECT_THAT(ended.idle, ElementsAre(kFirst));
    EXPECT_THAT(sessions_.connection_ended(2), IsEmpty());
}

}  // namespace
}  // namespace partita::share
