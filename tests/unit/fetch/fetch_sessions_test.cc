#include "broker/fetch/fetch_sessions.h"

#include <gtest/gtest.h>

namespace partita::fetch {
namespace {

SessionPartition partition(const std::string& topic, int index) {
    SessionPartition partition;
    partition.name = {.topic_id = {}, .topic = topic, .partition = {index}};
    partition.max_bytes = 100;
    return partition;
}

TEST(FetchSessions, IncrementalRequestMustCarryTheNextEpoch) {
    FetchSessions sessions(10);
    ASSERT_NE(sessions.create(7, true, 1, Instant{0}), nullptr);
    EXPECT_EQ(sessions.use(7, 2, true, Instant{0}).error, ErrorCode::invalid_fetch_session_epoch);
    EXPECT_EQ(sessions.use(7, 1, true, Instant{0}).error, ErrorCode::none);
    EXPECT_EQ(sessions.use(7, 1, true, Instant{0}).error, ErrorCode::invalid_fetch_session_epoch);
    EXPECT_EQ(sessions.use(7, 2, true, Instant{0}).error, ErrorCode::none);
}

TEST(FetchSessions, UnknownIdAndMixedTopicNamingAreErrors) {
    FetchSessions sessions(10);
    ASSERT_NE(sessions.create(7, true, 1, Instant{0}), nullptr);
    EXPECT_EQ(sessions.use(8, 1, true, Instant{0}).error, ErrorCode::fetch_session_id_not_found);
    EXPECT_EQ(sessions.use(7, 1, false, Instant{0}).error, ErrorCode::fetch_session_topic_id_error);
}

TEST(FetchSessions, EpochWrapsToOneSinceZeroMeansNew) {
    FetchSession session(1, true);
    for (int i = 0; i < 3; ++i) {
        session.advance_epoch();
    }
    EXPECT_EQ(session.next_epoch(), 4);
}

TEST(FetchSessions, FullCacheGivesNoSessionUntilOneIsStale) {
    FetchSessions sessions(2);
    ASSERT_NE(sessions.create(1, true, 5, Instant{0}), nullptr);
    ASSERT_NE(sessions.create(2, true, 5, Instant{0}), nullptr);
    EXPECT_EQ(sessions.create(3, true, 5, Instant{1000}), nullptr);
    EXPECT_EQ(sessions.use(1, 1, true, Instant{100'000}).error, ErrorCode::none);
    ASSERT_NE(sessions.create(3, true, 0, Instant{120'001}), nullptr);
    EXPECT_EQ(sessions.use(2, 1, true, Instant{120'001}).error, ErrorCode::fetch_session_id_not_found);
    EXPECT_EQ(sessions.use(1, 2, true, Instant{120'001}).error, ErrorCode::none);
    EXPECT_EQ(sessions.evictions(), 1u);
}

TEST(FetchSessions, LargerSessionReplacesAnOldSmallerOneInUse) {
    FetchSessions sessions(1);
    auto small = sessions.create(1, true, 1, Instant{0});
    const SessionPartition only = partition("t", 0);
    small->put(only);
    EXPECT_EQ(sessions.use(1, 1, true, Instant{120'001}).error, ErrorCode::none);
    EXPECT_EQ(sessions.create(2, true, 1, Instant{120'001}), nullptr);
    EXPECT_NE(sessions.create(2, true, 2, Instant{120'001}), nullptr);
}

TEST(FetchSession, PutKeepsWhatWasSentAndChangesWhatIsAsked) {
    FetchSession session(1, false);
    SessionPartition first = partition("t", 0);
    const SessionPartition second = partition("t", 1);
    session.put(first);
    session.put(second);
    session.partitions().front().sent_high_watermark = Offset{42};
    first.fetch_offset = Offset{17};
    session.put(first);
    EXPECT_EQ(session.partition_count(), 2u);
    EXPECT_EQ(session.partitions().front().fetch_offset, Offset{17});
    EXPECT_EQ(session.partitions().front().sent_high_watermark, Offset{42});
    session.move_to_end(session.partitions().begin());
    EXPECT_EQ(session.partitions().front().name.partition.value, 1);
    session.forget(first.name);
    EXPECT_EQ(session.partition_count(), 1u);
    session.forget(first.name);
    EXPECT_EQ(session.partition_count(), 1u);
}

}  // namespace
}  // namespace partita::fetch
