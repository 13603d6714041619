#include "broker/share/share_coordinator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "broker/share/record_codec.h"
#include "tests/support/hex.h"
#include "tests/unit/share/share_fixture.h"

namespace partita::share {
namespace {

using enum RecordState;
using test::hex;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const TopicId kTopic{{1, 2, 3}};

class ShareCoordinatorTest : public ::testing::Test {
  protected:
    /// Runs the command and checks that a coordinator that only replays the records knows the same.
    template <class Command>
    typename Command::Result run(Command command) {
        effects_.clear();
        command.key = key_;
        core_.decide(command, now_, effects_);
        replay_effects();
        EXPECT_EQ(effects_.replies.size(), 1u);
        return std::get<typename Command::Result>(effects_.replies.front().result);
    }
    void replay_effects() {
        for (const Record& record : effects_.records) {
            const auto encoded = encode_record(record, buffer_);
            ASSERT_TRUE(encoded.has_value());
            const auto decoded = ShareCoordinator::decode(encoded->key, encoded->value, arena_);
            ASSERT_TRUE(decoded.has_value() && decoded->has_value());
            replayed_.replay(**decoded);
            log_.push_back({{encoded->key.begin(), encoded->key.end()}, std::nullopt});
            if (encoded->value) {
                log_.back().second.emplace(encoded->value->begin(), encoded->value->end());
            }
        }
        EXPECT_EQ(core_.dump(), replayed_.dump());
    }
    /// The broker was killed, and reads its log.
    void restart() {
        core_ = ShareCoordinator();
        for (const auto& [key, value] : log_) {
            const auto decoded = ShareCoordinator::decode(key, value ? std::optional<Bytes>(*value) : std::nullopt, arena_);
            ASSERT_TRUE(decoded.has_value() && decoded->has_value());
            core_.replay(**decoded);
        }
        effects_.clear();
        core_.loaded(now_, effects_);
        EXPECT_THAT(effects_.records, ::testing::IsEmpty());
    }
    FetchPlan plan(std::optional<Offset> start = Offset{0}, std::int32_t leader_epoch = 0) {
        return run(PlanFetch{.key = {}, .leader_epoch = leader_epoch, .limits = limits_, .start = start, .reply_to = {}});
    }
    std::vector<AcquiredRange> acquire(std::string_view member, std::int64_t last) {
        const std::vector<ReadBatch> batches{{.base = plan().from, .last = {last}}};
        return run(AcquireRecords{.key = {},
                                  .wanted = {.member = std::make_shared<const std::string>(member),
                                             .batch_size = 500,
                                             .max_records = 500,
                                             .fetch_offset = batches.front().base,
                                             .batches = batches},
                                  .limits = limits_,
                                  .reply_to = {}})
            .ranges;
    }
    StateResult acknowledge(std::string_view member, std::int64_t first, std::int64_t last, AcknowledgeType type) {
        const Acknowledgement given{{first}, {last}, {&type, 1}};
        return run(AcknowledgeRecords{.key = {}, .member = member, .given = {&given, 1}, .limits = limits_, .reply_to = {}});
    }
    void initialize(Offset start = kUnsetStart, std::int32_t state_epoch = 1) {
        ASSERT_EQ(run(InitializeState{.key = {}, .state_epoch = state_epoch, .start = start, .reply_to = {}}).error,
                  ErrorCode::none);
    }

    SharePartitionKey key_{"g", kTopic, {0}};
    ShareLimits limits_;
    Now now_{{1000}, {50'000}};
    ShareCoordinator core_;
    ShareCoordinator replayed_;
    /// Keys and values, in their order.
    std::vector<std::pair<std::vector<std::byte>, std::optional<std::vector<std::byte>>>> log_;
    Effects effects_;
    ByteBuffer buffer_;
    Arena arena_;
};

TEST_F(ShareCoordinatorTest, AnUnknownSharePartitionIsNotFetched) {
    const FetchPlan answer = plan();
    EXPECT_EQ(answer.error, ErrorCode::unknown_server_error);
    EXPECT_EQ(answer.message, "Read operation on uninitialized share partition not allowed.");
}

TEST_F(ShareCoordinatorTest, TheFirstFetchDecidesWhereTheGroupBegins) {
    initialize();
    EXPECT_TRUE(plan(std::nullopt).needs_start);
    EXPECT_EQ(plan(Offset{7}).from, Offset{7});
    // Later ones do not.
    EXPECT_EQ(plan(Offset{9}).from, Offset{7});
    // Nothing was delivered, so nothing is persisted.
    EXPECT_EQ(run(ReadSummary{.key = {}, .reply_to = {}}).start, kUnsetStart);
}

TEST_F(ShareCoordinatorTest, AnAcknowledgementIsPersistedWithItsAnswer) {
    initialize();
    ASSERT_EQ(acquire("a", 9), std::vector<AcquiredRange>({{{0}, {9}, 1}}));
    EXPECT_THAT(effects_.records, IsEmpty());
    ASSERT_EQ(acknowledge("a", 0, 4, AcknowledgeType::accept).error, ErrorCode::none);
    ASSERT_EQ(effects_.records.size(), 1u);
    const auto read = run(ReadState{.key = {}, .reply_to = {}});
    EXPECT_EQ(read.start, Offset{0});
    EXPECT_THAT(read.batches, ElementsAre(StateBatch{{0}, {4}, acknowledged, 1}));
    // The next one also tells how far the start has moved.
    ASSERT_EQ(acknowledge("a", 5, 5, AcknowledgeType::release).error, ErrorCode::none);
    EXPECT_THAT(run(ReadState{.key = {}, .reply_to = {}}).batches, ElementsAre(StateBatch{{5}, {5}, available, 1}));
    EXPECT_EQ(run(ReadSummary{.key = {}, .reply_to = {}}).start, Offset{5});
}

TEST_F(ShareCoordinatorTest, ARestartedCoordinatorDeliversWhatWasNotDone) {
    initialize();
    acquire("a", 9);
    acknowledge("a", 2, 3, AcknowledgeType::accept);
    restart();
    EXPECT_EQ(plan().from, Offset{0});
    const std::vector<ReadBatch> batches{{.base = {0}, .last = {9}}};
    const auto ranges = run(AcquireRecords{.key = {},
                                           .wanted = {.member = std::make_shared<const std::string>("b"),
                                                      .batch_size = 500,
                                                      .max_records = 500,
                                                      .fetch_offset = {0},
                                                      .batches = batches},
                                           .limits = limits_,
                                           .reply_to = {}})
                            .ranges;
    EXPECT_EQ(ranges, std::vector<AcquiredRange>({{{0}, {1}, 1}, {{4}, {9}, 1}}));
}

TEST_F(ShareCoordinatorTest, LocksEndByTheTimer) {
    initialize();
    acquire("a", 9);
    EXPECT_EQ(core_.next_deadline(), Instant{1000 + limits_.lock_duration_ms});
    now_.monotonic = *core_.next_deadline();
    effects_.clear();
    core_.tick(now_, effects_);
    replay_effects();
    EXPECT_EQ(effects_.records.size(), 1u);
    EXPECT_EQ(core_.next_deadline(), std::nullopt);
    EXPECT_EQ(acquire("b", 9), std::vector<AcquiredRange>({{{0}, {9}, 2}}));
}

TEST_F(ShareCoordinatorTest, AnEndedSessionGivesBackItsRecords) {
    initialize();
    acquire("a", 9);
    EXPECT_EQ(run(ReleaseRecords{.key = {}, .member = "a", .limits = limits_, .reply_to = {}}).error, ErrorCode::none);
    EXPECT_EQ(core_.next_deadline(), std::nullopt);
    EXPECT_EQ(acquire("b", 9), std::vector<AcquiredRange>({{{0}, {9}, 2}}));
}

TEST_F(ShareCoordinatorTest, StateThatIsNotInUseKnowsNoRecords) {
    initialize();
    EXPECT_EQ(acknowledge("a", 0, 4, AcknowledgeType::accept).error, ErrorCode::unknown_topic_or_partition);
    acquire("a", 9);
    run(ReleaseRecords{.key = {}, .member = "a", .limits = limits_, .reply_to = {}});
    run(PutAside{.key = {}, .reply_to = {}});
    EXPECT_EQ(core_.next_deadline(), std::nullopt);
    EXPECT_EQ(acknowledge("a", 0, 4, AcknowledgeType::accept).error, ErrorCode::unknown_topic_or_partition);
}

TEST_F(ShareCoordinatorTest, StateWithHeldRecordsIsNotPutAside) {
    initialize();
    // A member began to read between the end of the last session and this command.
    acquire("b", 9);
    run(PutAside{.key = {}, .reply_to = {}});
    EXPECT_EQ(acknowledge("b", 0, 9, AcknowledgeType::accept).error, ErrorCode::none);
}

TEST_F(ShareCoordinatorTest, OldEpochsAreFenced) {
    initialize({5}, 3);
    EXPECT_EQ(run(InitializeState{.key = {}, .state_epoch = 2, .start = {0}, .reply_to = {}}).error,
              ErrorCode::fenced_state_epoch);
    EXPECT_EQ(run(ReadState{.key = {}, .leader_epoch = 4, .reply_to = {}}).error, ErrorCode::none);
    EXPECT_EQ(run(ReadState{.key = {}, .leader_epoch = 3, .reply_to = {}}).error, ErrorCode::fenced_leader_epoch);
    EXPECT_EQ(run(WriteState{.key = {}, .state_epoch = 2, .leader_epoch = 4, .batches = {}, .reply_to = {}}).error,
              ErrorCode::fenced_state_epoch);
    EXPECT_EQ(plan(Offset{0}, 3).error, ErrorCode::not_leader_or_follower);
    EXPECT_EQ(run(ReadSummary{.key = {}, .reply_to = {}}).leader_epoch, 4);
}

TEST_F(ShareCoordinatorTest, WritesOfOtherBrokersAreUnited) {
    EXPECT_EQ(run(WriteState{.key = {}, .batches = {}, .reply_to = {}}).error, ErrorCode::invalid_request);
    initialize({5});
    const StateBatch done{{5}, {9}, acknowledged, 1};
    ASSERT_EQ(run(WriteState{.key = {}, .state_epoch = 1, .start = {5}, .batches = {&done, 1}, .reply_to = {}}).error,
              ErrorCode::none);
    EXPECT_THAT(run(ReadState{.key = {}, .reply_to = {}}).batches, ElementsAre(done));
    EXPECT_EQ(plan().from, Offset{10});
}

TEST_F(ShareCoordinatorTest, ADeletedTopicLeavesNothing) {
    initialize();
    acquire("a", 9);
    effects_.clear();
    core_.topic_deleted({.name = "t", .topic_id = kTopic}, now_, effects_);
    replay_effects();
    EXPECT_EQ(core_.state_count(), 0u);
    EXPECT_EQ(core_.next_deadline(), std::nullopt);
    // Deleting twice is no error.
    EXPECT_EQ(run(DeleteState{.key = {}, .reply_to = {}}).error, ErrorCode::none);
    EXPECT_THAT(effects_.records, IsEmpty());
}

TEST_F(ShareCoordinatorTest, UpdatesOfAKafkaBrokerAreTakenOver) {
    core_.replay(SnapshotRecord{.key = key_, .snapshot_epoch = 4, .state_epoch = 2, .start = {10}, .batches = {}});
    core_.replay(UpdateRecord{.key = key_, .snapshot_epoch = 4, .start = {10}, .batches = {{{10}, {12}, acknowledged, 1}}});
    core_.replay(UpdateRecord{.key = key_, .snapshot_epoch = 4, .batches = {{{14}, {15}, available, 2}}});
    effects_.clear();
    core_.loaded(now_, effects_);
    ASSERT_EQ(effects_.records.size(), 1u);
    const auto& snapshot = std::get<SnapshotRecord>(effects_.records.front());
    EXPECT_EQ(snapshot.snapshot_epoch, 5);
    EXPECT_THAT(snapshot.batches, ElementsAre(StateBatch{{10}, {12}, acknowledged, 1}, StateBatch{{14}, {15}, available, 2}));
    replay_effects();
    // The checkpoint still has the last update, and gives it after the snapshot.
    core_.replay(UpdateRecord{.key = key_, .snapshot_epoch = 4, .start = {0}, .batches = {}});
    EXPECT_EQ(core_.dump(), replayed_.dump());
}

TEST(ShareRecordCodecTest, HasTheLayoutOfTheReference) {
    ByteBuffer buffer;
    const auto encoded = encode_record(SnapshotRecord{.key = {"g", kTopic, {3}},
                                                      .snapshot_epoch = 1,
                                                      .state_epoch = 2,
                                                      .leader_epoch = 3,
                                                      .start = {4},
                                                      .delivery_complete_count = 5,
                                                      .created = {6},
                                                      .written = {7},
                                                      .batches = {{{8}, {9}, archived, 2}}},
                                       buffer);
    ASSERT_TRUE(encoded.has_value());
    EXPECT_EQ(hex(encoded->key),
              "0000"
              "000167"
              "01020300000000000000000000000000"
              "00000003");
    EXPECT_EQ(hex(*encoded->value),
              "0000"
              "00000001"
              "00000002"
              "00000003"
              "0000000000000004"
              "0000000000000006"
              "0000000000000007"
              "02"
              "0000000000000008"
              "0000000000000009"
              "04"
              "0002"
              "00"
              "01"
              "0004"
              "00000005");
}

TEST(ShareRecordCodecTest, AStateThatIsNeverPersistedIsAnError) {
    ByteBuffer buffer;
    Arena arena;
    const auto encoded = encode_record(SnapshotRecord{.key = {"g", kTopic, {0}}, .batches = {{{8}, {9}, acquired, 2}}}, buffer);
    ASSERT_TRUE(encoded.has_value());
    EXPECT_FALSE(decode_record(encoded->key, encoded->value, arena).has_value());
}

}  // namespace
}  // namespace partita::share
