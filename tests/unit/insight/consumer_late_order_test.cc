// Tests for H06 where producers placed records by the old count after the growth.

#include <optional>
#include <string>

#include "tests/unit/insight/consumer_order_fixture.h"

namespace partita::insight {
namespace {

/// "billing" has finished everything from before the growth. Then a producer wrote one more record of each key by the old count,
/// and those by the new count came after it.
class LateRecordsTest : public ConsumerOrderTest {
  protected:
    static constexpr std::int64_t kLateMs = 1'000'050;
    static constexpr std::int64_t kNewMs = 1'000'100;

    LateRecordsTest() {
        for (const auto& [partition, keys] : records_.keys) {
            for (const auto& [offset, key] : keys) {
                records_.times[{partition, offset}] = TimestampMs{kNewMs};
            }
        }
        StaleWrites::Writer writer{.client = {"shop", "/10.0.0.2"}, .old_count = 2, .new_count = 4};
        for (const auto& [partition, count] : {std::pair{kOld, kOldRecords}, {kOther, kOtherRecords}}) {
            for (std::int64_t offset = 0; offset < count; ++offset) {
                const std::string key = records_.keys[partition][Offset{offset}];
                Offset& end = ends_[static_cast<std::size_t>(partition.value)];
                records_.keys[partition][end] = key;
                records_.times[{partition, end}] = TimestampMs{kLateMs};
                // A record of a key that stays proves nothing.
                if (home_of(key, 4) != partition) {
                    ++writer.records;
                    writer.last[partition] = end;
                }
                ++end.value;
            }
        }
        late_ = {writer};
        known_families_.insert(partitioners::Family::murmur2_pos);
        billing().committed = {Offset{kOldRecords}, Offset{kOtherRecords}, kNoOffset, kNoOffset};
        wait(1000);
        // Two looks tell where a group is.
        (void)findings();
        (void)findings();
    }
    void deliver_old() {
        deliver(kOld, kOldRecords, end(0));
        deliver(kOther, kOtherRecords, end(1));
    }
    void deliver_new() {
        deliver({2}, 0, end(2));
        deliver({3}, 0, end(3));
    }
    void commit_everything(const std::string& group) {
        std::vector<ConsumerWatch::Commit> commits;
        for (std::int32_t partition = 0; partition < 4; ++partition) {
            commits.push_back({{partition}, Offset{end(partition)}});
        }
        commit(group, commits);
        billing().committed = ends_;
    }

    std::vector<StaleWrites::Writer> late_;
};

TEST_F(LateRecordsTest, NewerRecordsBeforeLateOnesAreToldExactly) {
    stale_ = late_;
    deliver_new();
    EXPECT_FALSE(wrong_order()) << "the late records may still be skipped";
    deliver_old();
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, moved_);
    EXPECT_EQ(told->severity, Severity::block);
    EXPECT_EQ(number(*told, "is_exact"), 1);
    EXPECT_EQ(number(*told, "processed_keys"), 0);
    commit_everything("billing");
    EXPECT_EQ(number(*wrong_order(), "processed_keys"), moved_);
    EXPECT_EQ(watch_.wrong_keys({.group = "billing", .client_id = {}, .client_address = {}}).size(),
              static_cast<std::size_t>(moved_));
}

// Members commit by themselves. But no member has finished a record that the group was not handed.
TEST_F(LateRecordsTest, CommitsOfSeveralMembersProveTheOrderOfWhatNobodyHasYet) {
    stale_ = late_;
    families_ = known_families_;
    billing().members.push_back({"billing-app", "/10.0.0.1", {{1}}, "billing-2"});
    const Offset last{end(0) - 1};
    const auto key = [&]() -> std::string {
        for (Offset offset = last; offset.value > kOldRecords; --offset.value) {
            if (home_of(records_.keys[kOld][offset], 4).value >= 2 && records_.times[{kOld, offset}].value == kLateMs) {
                return records_.keys[kOld][offset];
            }
        }
        return {};
    }();
    const PartitionIndex home = home_of(key, 4);
    for (const auto& [partition, records] : records_.keys) {
        for (const auto& [offset, text] : records) {
            if (text == key) {
                add_key(key, partition, partition == kOld && offset.value < kOldRecords ? 0 : 1, offset.value);
            }
        }
    }
    deliver(kOld, kOldRecords, kOldRecords + 1);
    deliver(home, 0, end(home.value));
    commit("billing", {{kOld, Offset{kOldRecords + 1}}, {home, Offset{end(home.value)}}});
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->severity, Severity::block);
    EXPECT_EQ(told->count, 1);
    EXPECT_EQ(number(*told, "overlapping_keys"), 0);
    // It stays certain when a member is handed the older record.
    deliver(kOld, kOldRecords + 1, end(0));
    EXPECT_EQ(wrong_order()->severity, Severity::block);
}

TEST_F(LateRecordsTest, LateRecordsFirstIsRight) {
    stale_ = late_;
    deliver_old();
    deliver_new();
    EXPECT_FALSE(wrong_order());
}

TEST_F(LateRecordsTest, LateRecordsThatAreNewerHaveToComeLast) {
    stale_ = late_;
    for (auto& [place, time] : records_.times) {
        time.value = kLateMs + kNewMs - time.value;
    }
    deliver_old();
    deliver_new();
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, moved_);
}

TEST_F(LateRecordsTest, WhatWasHandedOutBeforeTheWriterIsKnownIsJudgedToo) {
    deliver_new();
    deliver_old();
    (void)findings();
    wait(LateOrder::kNotedMs);
    stale_ = late_;
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, moved_);
}

TEST_F(LateRecordsTest, NotesAreForgottenAfterAWhile) {
    deliver_new();
    deliver_old();
    (void)findings();
    wait(LateOrder::kNotedMs + 1);
    (void)findings();
    stale_ = late_;
    EXPECT_FALSE(wrong_order());
}

TEST_F(LateRecordsTest, MoreNotesThanTheLimitMakeRoom) {
    deliver_new();
    deliver_old();
    for (std::size_t note = 0; note < LateOrder::kNotedMax; ++note) {
        deliver({3}, end(3) - 1, end(3));
    }
    (void)findings();
    stale_ = late_;
    EXPECT_FALSE(wrong_order());
}

TEST_F(LateRecordsTest, AGroupThatComesBackLaterIsJudgedThen) {
    stale_ = late_;
    // Nobody writes any more, and nobody reads.
    (void)findings();
    (void)findings();
    wait(3'600'000);
    deliver_new();
    deliver_old();
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, moved_);
    EXPECT_EQ(number(*told, "is_exact"), 1);
}

TEST_F(LateRecordsTest, AGroupIsWatchedWhileTheProducerGoesOn) {
    stale_ = late_;
    stale_[0].is_writing = true;
    deliver_old();
    deliver_new();
    commit_everything("billing");
    EXPECT_FALSE(wrong_order());
    // One more record by the old count, created before one by the new count, comes after it.
    const std::string key = [&] {
        for (const auto& [offset, text] : records_.keys[kOld]) {
            if (home_of(text, 4).value >= 2) {
                return text;
            }
        }
        return std::string();
    }();
    const PartitionIndex home = home_of(key, 4);
    Offset& new_end = ends_[static_cast<std::size_t>(home.value)];
    records_.keys[home][new_end] = key;
    records_.times[{home, new_end}] = TimestampMs{kNewMs + 102};
    ++new_end.value;
    deliver(home, new_end.value - 1, new_end.value);
    EXPECT_FALSE(wrong_order());
    records_.keys[kOld][ends_[0]] = key;
    records_.times[{kOld, ends_[0]}] = TimestampMs{kNewMs + 101};
    ++ends_[0].value;
    ++stale_[0].records;
    deliver(kOld, end(0) - 1, end(0));
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, 1);
}

// It had all that was known, and the next answers came before anything else was known.
TEST_F(LateRecordsTest, AGroupThatIsThroughIsWatchedAgainWhenMoreComes) {
    const std::vector<Offset> all = ends_;
    const std::int64_t half = kOldRecords + 20;
    ends_[0] = Offset{half};
    stale_ = late_;
    stale_[0].last = {{kOld, Offset{half - 1}}};
    --stale_[0].records;
    deliver(kOld, kOldRecords, half);
    deliver(kOther, kOtherRecords, end(1));
    billing().committed[0] = Offset{half};
    billing().committed[1] = ends_[1];
    (void)findings();
    (void)findings();
    (void)findings();
    ends_ = all;
    stale_ = late_;
    deliver_new();
    deliver(kOld, half, end(0));
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_GT(told->count, 0);
}

TEST_F(LateRecordsTest, NothingIsLostUntilThePartitionerIsKnown) {
    known_families_ = {};
    stale_ = late_;
    deliver_new();
    deliver_old();
    EXPECT_FALSE(wrong_order());
    wait(LateOrder::kNotedMs);
    known_families_.insert(partitioners::Family::murmur2_pos);
    const auto told = wrong_order();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, moved_);
    EXPECT_EQ(number(*told, "is_exact"), 1);
}

// As after a start: nobody has seen who wrote them.
TEST_F(LateRecordsTest, LateRecordsAreFoundWhileABacklogIsJudged) {
    known_families_ = {};
    add_group("returning", ConnectionId{7});
    groups_.back().committed = {Offset{0}, Offset{0}, kNoOffset, kNoOffset};
    groups_.erase(groups_.begin());
    // The records of its backlog come in order.
    deliver(kOld, 0, kOldRecords);
    deliver(kOther, 0, kOtherRecords);
    deliver_new();
    deliver_old();
    (void)findings();
    const auto told = wrong_order("returning");
    ASSERT_TRUE(told);
    EXPECT_EQ(told->count, moved_);
    EXPECT_EQ(number(*told, "is_exact"), 1);
}

TEST_F(LateRecordsTest, TheHarmOfADeletedGroupIsForgotten) {
    stale_ = late_;
    deliver_new();
    deliver_old();
    ASSERT_TRUE(wrong_order());
    watch_.forget_group("billing");
    groups_.clear();
    EXPECT_FALSE(wrong_order());
}

TEST_F(LateRecordsTest, KeysWhoseLateRecordIsRemovedDoNotCountAnyMore) {
    stale_ = late_;
    deliver_new();
    deliver_old();
    ASSERT_TRUE(wrong_order());
    starts_[0] = ends_[0];
    starts_[1] = ends_[1];
    EXPECT_FALSE(wrong_order());
}

TEST_F(LateRecordsTest, AGroupThatCommitsNothingIsThroughAfterAWhile) {
    stale_ = late_;
    deliver_new();
    deliver_old();
    ASSERT_TRUE(wrong_order());
    wait(LateOrder::kUncommittedMs);
    ASSERT_TRUE(wrong_order()) << "what was judged stays";
    // It goes on, and is not watched: nothing is read for it.
    records_.budget = 0;
    deliver({3}, end(3) - 1, end(3));
    (void)findings();
    EXPECT_FALSE(watch_.is_reading());
}

}  // namespace
}  // namespace partita::insight
