#include "broker/fetch/fetch_sessions.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace partita::fetch {
namespace {

SessionPartition partition(const std::string& topic, int index) {
    SessionPartition partition;
    partition.name = {.topic_id = {}, .topic = topic, .partition = {index}};
    partition.max_bytes = 100;
    return partition;
}

ErrorCode refusal(const std::expected<FetchSession*, ErrorCode>& used) { return used ? ErrorCode::none : used.error(); }

std::vector<SessionPartition> in_order(const FetchSession& session) {
    std::vector<SessionPartition> partitions;
    session.visit([&](SessionSlot, const SessionPartition& partition, bool) { partitions.push_back(partition); });
    return partitions;
}

TEST(FetchSessions, IncrementalRequestMustCarryTheNextEpoch) {
    FetchSessions sessions(10);
    ASSERT_NE(sessions.create(7, true, 1, Instant{0}), nullptr);
    EXPECT_EQ(refusal(sessions.use(7, 2, true, Instant{0})), ErrorCode::invalid_fetch_session_epoch);
    EXPECT_EQ(refusal(sessions.use(7, 1, true, Instant{0})), ErrorCode::none);
    EXPECT_EQ(refusal(sessions.use(7, 1, true, Instant{0})), ErrorCode::invalid_fetch_session_epoch);
    EXPECT_EQ(refusal(sessions.use(7, 2, true, Instant{0})), ErrorCode::none);
}

TEST(FetchSessions, UnknownIdAndMixedTopicNamingAreErrors) {
    FetchSessions sessions(10);
    ASSERT_NE(sessions.create(7, true, 1, Instant{0}), nullptr);
    EXPECT_EQ(refusal(sessions.use(8, 1, true, Instant{0})), ErrorCode::fetch_session_id_not_found);
    EXPECT_EQ(refusal(sessions.use(7, 1, false, Instant{0})), ErrorCode::fetch_session_topic_id_error);
}

TEST(FetchSessions, EpochWrapsToOneSinceZeroMeansNew) {
    FetchSession session(true);
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
    EXPECT_EQ(refusal(sessions.use(1, 1, true, Instant{100'000})), ErrorCode::none);
    ASSERT_NE(sessions.create(3, true, 0, Instant{120'001}), nullptr);
    EXPECT_EQ(refusal(sessions.use(2, 1, true, Instant{120'001})), ErrorCode::fetch_session_id_not_found);
    EXPECT_EQ(refusal(sessions.use(1, 2, true, Instant{120'001})), ErrorCode::none);
    EXPECT_EQ(sessions.evictions(), 1u);
}

TEST(FetchSessions, LargerSessionReplacesAnOldSmallerOneInUse) {
    FetchSessions sessions(1);
    FetchSession* small = sessions.create(1, true, 1, Instant{0});
    const SessionPartition only = partition("t", 0);
    small->put(only);
    EXPECT_EQ(refusal(sessions.use(1, 1, true, Instant{120'001})), ErrorCode::none);
    EXPECT_EQ(sessions.create(2, true, 1, Instant{120'001}), nullptr);
    EXPECT_NE(sessions.create(2, true, 2, Instant{120'001}), nullptr);
}

TEST(FetchSession, PutKeepsWhatWasSentAndChangesWhatIsAsked) {
    FetchSession session(false);
    SessionPartition first = partition("t", 0);
    const SessionPartition second = partition("t", 1);
    const SessionSlot slot = session.put(first);
    session.put(second);
    session.note_answer(std::array{SessionNews{.slot = slot, .high_watermark = Offset{42}, .log_start_offset = Offset{3}}});
    first.fetch_offset = Offset{17};
    EXPECT_EQ(session.put(first).index, slot.index);
    EXPECT_EQ(session.partition_count(), 2u);
    EXPECT_EQ(in_order(session).front().fetch_offset, Offset{17});
    EXPECT_EQ(in_order(session).front().sent_high_watermark, Offset{42});
    EXPECT_EQ(in_order(session).front().sent_log_start_offset, Offset{3});
    session.forget(first.name);
    EXPECT_EQ(session.partition_count(), 1u);
    session.forget(first.name);
    EXPECT_EQ(session.partition_count(), 1u);
}

TEST(FetchSession, APartitionThatYieldedRecordsMovesToTheEnd) {
    FetchSession session(false);
    const SessionSlot first = session.put(partition("t", 0));
    const SessionSlot second = session.put(partition("t", 1));
    session.put(partition("t", 2));
    session.note_answer(
        std::array{SessionNews{.slot = first, .high_watermark = Offset{1}, .log_start_offset = Offset{0}, .has_records = true},
                   SessionNews{.slot = second, .high_watermark = Offset{1}, .log_start_offset = Offset{0}}});
    std::vector<int> order;
    for (const SessionPartition& each : in_order(session)) {
        order.push_back(each.name.partition.value);
    }
    EXPECT_EQ(order, (std::vector{1, 2, 0}));
}

TEST(FetchSession, ASlotThatWasForgottenIsUsedAgainForAnotherPartition) {
    FetchSession session(false);
    session.put(partition("t", 0));
    const SessionSlot freed = session.put(partition("t", 1));
    session.forget(partition("t", 1).name);
    EXPECT_EQ(session.put(partition("u", 5)).index, freed.index);
    session.note_answer(std::array{SessionNews{.slot = freed, .high_watermark = Offset{9}, .log_start_offset = Offset{0}}});
    EXPECT_EQ(in_order(session).back().name.topic, "u");
    EXPECT_EQ(in_order(session).back().sent_high_watermark, Offset{9});
    EXPECT_EQ(in_order(session).front().sent_high_watermark, kNoOffset);
}

TEST(FetchSession, ThePartitionsOfATopicRememberItsNameUntilTheyAreForgotten) {
    FetchSession session(true);
    const auto name = std::make_shared<const std::string>("t");
    SessionPartition first = partition("", 0);
    first.name.topic_id.bytes[0] = 1;
    SessionPartition second = first;
    second.name.partition = PartitionIndex{1};
    const SessionSlot slot = session.put(first);
    EXPECT_EQ(session.topic_name(slot), nullptr);
    session.name_topics(std::array{SessionTopicName{slot, name}, SessionTopicName{session.put(second), name}});
    session.name_topics(std::array{SessionTopicName{slot, std::make_shared<const std::string>("u")}});
    first.fetch_offset = Offset{17};
    session.put(first);
    EXPECT_EQ(session.topic_name(slot), name) << "the first one, whatever the client asks for later";
    std::vector<bool> named;
    session.visit([&](SessionSlot, const SessionPartition&, bool has_name) { named.push_back(has_name); });
    EXPECT_EQ(named, (std::vector{true, true}));
    session.forget(first.name);
    EXPECT_EQ(session.topic_name(session.put(first)), nullptr);
    session.forget(second.name);
    EXPECT_EQ(name.use_count(), 1) << "a session keeps the names of its partitions alone";
}

TEST(FetchSessions, AFetchThatWasSupersededNeitherGivesNorGetsNames) {
    FetchSessions sessions(10);
    FetchSession* session = sessions.create(7, true, 1, Instant{0});
    const std::array names{SessionTopicName{session->put(partition("", 0)), std::make_shared<const std::string>("t")}};
    const SessionTurn early{.session_id = 7, .next_epoch = session->next_epoch()};
    sessions.name_topics(early, names);
    EXPECT_EQ(sessions.topic_name(early, names[0].slot), names[0].name);
    ASSERT_TRUE(sessions.use(7, 1, true, Instant{0}));
    EXPECT_EQ(sessions.topic_name(early, names[0].slot), nullptr);
    sessions.remove(7);
    sessions.name_topics(early, names);
    EXPECT_EQ(sessions.topic_name(early, names[0].slot), nullptr);
}

TEST(FetchSessions, AnAnswerOfASupersededFetchIsRefusedAndChangesNothing) {
    FetchSessions sessions(10);
    FetchSession* session = sessions.create(7, true, 1, Instant{0});
    const std::array news{
        SessionNews{.slot = session->put(partition("t", 0)), .high_watermark = Offset{5}, .log_start_offset = Offset{0}}};
    const SessionTurn early{.session_id = 7, .next_epoch = session->next_epoch()};
    ASSERT_TRUE(sessions.use(7, 1, true, Instant{0}));
    EXPECT_FALSE(sessions.answer(early, news));
    EXPECT_EQ(in_order(*session).front().sent_high_watermark, kNoOffset);
    EXPECT_TRUE(sessions.answer({.session_id = 7, .next_epoch = 2}, news));
    EXPECT_EQ(in_order(*session).front().sent_high_watermark, Offset{5});
    sessions.remove(7);
    EXPECT_TRUE(sessions.answer({.session_id = 7, .next_epoch = 2}, news));
}

}  // namespace
}  // namespace partita::fetch
