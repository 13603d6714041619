// Tests what every kind of coordinator gets from its shards, by the smallest core that asks for all of it.

#include <gmock/gmock.h>

#include <cerrno>

#include "broker/logs/published_topics.h"
#include "broker/runtime/coordinators/coordinator_shards_impl.h"
#include "broker/runtime/coordinators/outward_writes.h"
#include "storage/metadata_store.h"
#include "tests/support/broker_process.h"
#include "tests/support/storage_fixture.h"
#include "tests/unit/catalog/catalog_fixture.h"
#include "tests/unit/runtime/coordinators/toy_coordinator.h"
#include "tests/unit/runtime/still_clock.h"

namespace partita::runtime {

template class CoordinatorShards<toy::Core>;

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ToyShards final : public CoordinatorShards<toy::Core> {
  public:
    explicit ToyShards(const Surroundings& surroundings) : CoordinatorShards(surroundings, LockRank::group_shard) {}

    std::vector<std::string> persisted;
    int replacements = 0;
    int updates = 0;

  private:
    std::unique_ptr<toy::Core> make_core(const logs::Partition&) override { return std::make_unique<toy::Core>(); }
    void bring_up_to_date(toy::Core&) override { ++updates; }
    void on_persisted(std::span<const toy::Record> records) override {
        for (const toy::Record& record : records) {
            persisted.emplace_back(record.key);
        }
    }
    void on_replaced() override { ++replacements; }
};

/// An answer that was sent to a connection: the request's number, the error, and the value. `answers` keeps their order.
struct Answer {
    std::int32_t request;
    ErrorCode error;
    std::int64_t value;
    friend bool operator==(const Answer&, const Answer&) = default;
    friend void PrintTo(const Answer& answer, std::ostream* out) {
        *out << answer.request << ": " << static_cast<int>(answer.error) << ", " << answer.value;
    }
};
std::vector<Answer> answers;

/// Data that the caller needs to encode a reply later.
struct Call {
    ReplyTarget target;
    std::int32_t correlation_id = 0;
};

Reply note_get(const Call& pending, const toy::GetResult& result) {
    answers.push_back({pending.correlation_id, result.error, result.value});
    return {};
}
Reply note_put(const Call& pending, const toy::PutResult& result) {
    answers.push_back({pending.correlation_id, result.error, 0});
    return {};
}

class CoordinatorShardsTest : public ::testing::Test {
  protected:
    static constexpr std::size_t kShards = 2;

    CoordinatorShardsTest() {
        answers.clear();
        toy::Core::asks_when_told = false;
        auto opened = MetadataStore::open(directory_ / "store");
        if (!opened) {
            throw std::runtime_error(opened.error().message);
        }
        store_ = std::move(*opened);
        auto table = std::make_shared<logs::TopicTable>();
        catalog_.create("outward", 2);
        table->catalog = catalog_.core().snapshot();
        auto state = std::make_shared<logs::TopicState>();
        state->topic = table->catalog->share_topic(table->catalog->find_topic("outward")->id);
        for (int index = 0; index < 2; ++index) {
            outward_.push_back(
                std::make_shared<logs::Partition>(world_.shared_log(10 + index), fetch::PartitionKey{10u + index}));
        }
        state->partitions = outward_;
        table->put(state);
        topics_.publish(std::move(table));
        for (std::size_t index = 0; index < kShards; ++index) {
            partitions_.push_back(
                std::make_shared<logs::Partition>(world_.shared_log(static_cast<int>(index)), fetch::PartitionKey{index}));
        }
        start();
    }
    void start() {
        shards_ = std::make_unique<ToyShards>(ToyShards::Surroundings{
            .turns = turns_, .store = *store_, .upkeep = bell_, .failures = failures_, .outward_writes = &writes_});
        ASSERT_TRUE(shards_->attach(partitions_));
        ASSERT_TRUE(shards_->load(kNow).has_value());
    }
    [[nodiscard]] logs::Turn& turn() { return turns_.first(); }
    [[nodiscard]] ErrorCode put(std::string_view key, std::int64_t value) {
        const auto done = shards_->ask(turn(), key, toy::Put{.key = key, .value = value});
        return done ? done->error : ErrorCode::not_coordinator;
    }
    [[nodiscard]] std::int64_t get(std::string_view key) {
        const auto got = shards_->ask(turn(), key, toy::Get{.key = key});
        return got ? got->value : -2;
    }
    /// Moves the clock for the turn of the next commands.
    void move_clock_to(std::int64_t ms) {
        clock_.ms = ms;
        turns_.first_reactor().refresh_now();
    }
    void await(std::int32_t request, std::string_view key) {
        shards_->execute<note_get>(turn(), key, Call{.correlation_id = request}, toy::Await{.key = key});
    }
    /// Sends from the shard of "s".
    [[nodiscard]] std::optional<toy::SendResult> send(std::vector<std::int32_t> partitions) {
        return shards_->ask(turn(), "s", toy::Send{.partitions = std::move(partitions)});
    }
    /// The next write fails, and no other does.
    void fail_next_write() { world_.system.fail_call(1, EIO); }
    /// The values of a partition's records, in their order.
    [[nodiscard]] static std::vector<std::string> values_of(const logs::Partition& partition) {
        std::vector<std::string> values;
        const std::string bytes = test::read_all(*partition.log, Offset{0});
        std::vector<std::byte> copy(as_bytes(bytes).begin(), as_bytes(bytes).end());
        BatchCursor cursor(copy);
        while (cursor.next()) {
            RecordReader reader(cursor.batch());
            RecordView record;
            for (auto found = reader.next(record); found && *found; found = reader.next(record)) {
                values.emplace_back(as_text(*record.value));
            }
        }
        return values;
    }
    [[nodiscard]] bool rebuild_was_asked_for() { return bell_.take_heard().coordinator_lost; }

    static constexpr Now kNow{.monotonic = {1000}, .wall = {1000}};

    test::TemporaryDirectory directory_;
    test::StorageWorld world_;
    std::unique_ptr<MetadataStore> store_;
    catalog::TestCatalog catalog_;
    logs::PublishedTopics topics_;
    test::StillClock clock_;
    logs::Turns turns_{topics_, 1, 0, clock_};
    UpkeepBell bell_;
    FailureLog failures_{clock_};
    CoordinatorHosts hosts_;
    OutwardWrites writes_{turns_, topics_, hosts_};
    std::vector<std::shared_ptr<logs::Partition>> partitions_;
    std::vector<std::shared_ptr<logs::Partition>> outward_;
    std::unique_ptr<ToyShards> shards_;
};

TEST_F(CoordinatorShardsTest, WhatWasAnsweredIsThereAfterAStartFromLogAndCheckpoint) {
    ASSERT_EQ(put("a", 1), ErrorCode::none);
    ASSERT_EQ(put("b", 2), ErrorCode::none);
    const std::vector<std::shared_ptr<PartitionLog>> logs{partitions_[0]->log, partitions_[1]->log};
    ASSERT_TRUE(fold_keyed_logs(logs, *store_).has_value());
    ASSERT_EQ(put("b", 3), ErrorCode::none);
    start();
    EXPECT_EQ(get("a"), 1);
    EXPECT_EQ(get("b"), 3);
    EXPECT_EQ(get("c"), -1);
}

TEST_F(CoordinatorShardsTest, KeysHaveTheShardThatKafkaGivesThem) {
    ASSERT_EQ(put("a", 1), ErrorCode::none);
    const std::size_t own = shards_->shard_of("a");
    EXPECT_EQ(own, coordinator_shard_index("a", kShards));
    EXPECT_EQ(partitions_[own]->log->log_end_offset(), Offset{1});
    EXPECT_EQ(partitions_[1 - own]->log->log_end_offset(), Offset{0});
}

TEST_F(CoordinatorShardsTest, RequestThatWaitsIsAnsweredByAnotherOneOnceAndAfterItsRecord) {
    await(7, "a");
    await(8, "a");
    EXPECT_THAT(answers, IsEmpty());
    ASSERT_EQ(put("a", 5), ErrorCode::none);
    EXPECT_THAT(answers, ElementsAre(Answer{7, ErrorCode::none, 5}, Answer{8, ErrorCode::none, 5}));
    ASSERT_EQ(put("a", 6), ErrorCode::none);
    EXPECT_EQ(answers.size(), 2U);
}

TEST_F(CoordinatorShardsTest, LookSeesTheCoreAsItWasBeforeTheCommand) {
    std::size_t before = 9;
    ASSERT_TRUE(shards_->look_and_ask(turn(), "a", [&](const toy::Core& core) { before = core.size(); }, toy::Put{.key = "a"}));
    EXPECT_EQ(before, 0U);
}

TEST_F(CoordinatorShardsTest, FailedWriteAnswersNobodyWithWhatWasLostAndItsShardIsRebuilt) {
    ASSERT_EQ(put("a", 1), ErrorCode::none);
    await(7, "a");
    await(9, "c");
    ASSERT_EQ(shards_->shard_of("a"), shards_->shard_of("c"));
    fail_next_write();
    // The shard could not write the records behind the answers to 7 and 8; 9 was still waiting.
    shards_->execute<note_put>(turn(), "a", Call{.correlation_id = 8}, toy::Put{.key = "a", .value = 2});
    EXPECT_THAT(answers, ElementsAre(Answer{9, ErrorCode::not_coordinator, -1}, Answer{7, ErrorCode::not_coordinator, -1},
                                     Answer{8, ErrorCode::not_coordinator, 0}));
    EXPECT_FALSE(shards_->is_complete());
    EXPECT_TRUE(rebuild_was_asked_for());
    EXPECT_EQ(get("a"), -2) << "nothing is known until it is rebuilt";
    ASSERT_TRUE(shards_->rebuild_lost());
    EXPECT_TRUE(shards_->is_complete());
    EXPECT_EQ(get("a"), 1);
    EXPECT_EQ(put("a", 2), ErrorCode::none);
    EXPECT_EQ(get("a"), 2);
}

TEST_F(CoordinatorShardsTest, FailedWriteLeavesOtherShardsAlone) {
    ASSERT_EQ(put("a", 1), ErrorCode::none);
    ASSERT_EQ(put("b", 1), ErrorCode::none);
    ASSERT_NE(shards_->shard_of("a"), shards_->shard_of("b"));
    fail_next_write();
    EXPECT_EQ(put("a", 2), ErrorCode::not_coordinator);
    EXPECT_EQ(get("b"), 1);
    EXPECT_EQ(put("b", 2), ErrorCode::none);
}

TEST_F(CoordinatorShardsTest, TopicDeletedDuringARebuildIsDeletedAfterIt) {
    ASSERT_EQ(put("a", 1), ErrorCode::none);
    fail_next_write();
    ASSERT_EQ(put("a", 2), ErrorCode::not_coordinator);
    shards_->topic_deleted(nullptr, {.name = "a", .topic_id = {}}, kNow);
    ASSERT_TRUE(shards_->rebuild_lost());
    EXPECT_EQ(get("a"), -1);
}

TEST_F(CoordinatorShardsTest, RebuiltCoreIsBroughtUpToDateAndThoseAboveAreTold) {
    ASSERT_EQ(put("a", 1), ErrorCode::none);
    const int replacements = shards_->replacements;
    const int updates = shards_->updates;
    fail_next_write();
    ASSERT_EQ(put("a", 2), ErrorCode::not_coordinator);
    ASSERT_TRUE(shards_->rebuild_lost());
    EXPECT_EQ(shards_->replacements, replacements + 2) << "an empty one, and the one rebuilt";
    EXPECT_EQ(shards_->updates, updates + 1);
    EXPECT_THAT(shards_->persisted, ElementsAre("a")) << "what failed is told to nobody";
}

TEST_F(CoordinatorShardsTest, TimersRunWhenTheyAreDueAndPersistWhatTheyDecide) {
    ASSERT_TRUE(shards_->ask(turn(), "a", toy::PutLater{.key = "a", .value = 1, .due = {2000}}));
    ASSERT_TRUE(shards_->ask(turn(), "b", toy::PutLater{.key = "b", .value = 2, .due = {3000}}));
    EXPECT_EQ(shards_->next_deadline(), Instant{2000});
    shards_->tick(turn(), {.monotonic = {1999}, .wall = {1}});
    EXPECT_EQ(get("a"), -1);
    shards_->tick(turn(), {.monotonic = {2000}, .wall = {1}});
    EXPECT_EQ(shards_->next_deadline(), Instant{3000});
    shards_->tick(turn(), {.monotonic = {3000}, .wall = {1}});
    EXPECT_EQ(shards_->next_deadline(), std::nullopt);
    start();
    EXPECT_EQ(get("a"), 1);
    EXPECT_EQ(get("b"), 2);
}

TEST_F(CoordinatorShardsTest, TimerThatIsDueRunsBeforeACommandThatComesInTheSameTurn) {
    ASSERT_TRUE(shards_->ask(turn(), "a", toy::PutLater{.key = "a", .value = 1, .due = {2000}}));
    move_clock_to(1999);
    EXPECT_EQ(get("a"), -1);
    move_clock_to(2000);
    EXPECT_EQ(get("a"), 1);
    EXPECT_EQ(shards_->next_deadline(), std::nullopt);

    await(7, "a");
    ASSERT_TRUE(shards_->ask(turn(), "a", toy::PutLater{.key = "a", .value = 2, .due = {3000}}));
    move_clock_to(3000);
    std::size_t persisted = 0;
    ASSERT_TRUE(shards_->look_and_ask(
        turn(), "a", [&](const toy::Core&) { persisted = shards_->persisted.size(); }, toy::Get{.key = "a"}));
    EXPECT_EQ(persisted, 2U) << "the look is at what the timers left";
}

TEST_F(CoordinatorShardsTest, CommandAfterATimerThatCouldNotBePersistedIsTurnedAway) {
    ASSERT_TRUE(shards_->ask(turn(), "a", toy::PutLater{.key = "a", .value = 1, .due = {2000}}));
    move_clock_to(2000);
    fail_next_write();
    await(7, "a");
    EXPECT_THAT(answers, ElementsAre(Answer{7, ErrorCode::not_coordinator, -1}));
    EXPECT_TRUE(rebuild_was_asked_for());
}

TEST_F(CoordinatorShardsTest, EverybodyWhoWaitsIsTurnedAwayAtTheEnd) {
    await(7, "a");
    await(8, "b");
    shards_->fail_waiting(turn());
    EXPECT_THAT(answers, ::testing::UnorderedElementsAre(Answer{7, ErrorCode::not_coordinator, -1},
                                                         Answer{8, ErrorCode::not_coordinator, -1}));
}

TEST_F(CoordinatorShardsTest, DeletedTopicIsForgottenAndServedAnewWithAsManyPartitions) {
    ASSERT_EQ(put("a", 1), ErrorCode::none);
    await(7, "a");
    shards_->forget_all(kNow);
    EXPECT_FALSE(shards_->is_attached());
    EXPECT_THAT(answers, ElementsAre(Answer{7, ErrorCode::not_coordinator, -1}));
    EXPECT_FALSE(shards_->attach({partitions_.data(), 1}));
    const std::vector<std::shared_ptr<logs::Partition>> anew{
        std::make_shared<logs::Partition>(world_.shared_log(20), fetch::PartitionKey{20}),
        std::make_shared<logs::Partition>(world_.shared_log(21), fetch::PartitionKey{21})};
    ASSERT_TRUE(shards_->attach(anew));
    shards_->serve(kNow);
    EXPECT_EQ(get("a"), -1);
    EXPECT_EQ(put("a", 2), ErrorCode::none);
}

TEST_F(CoordinatorShardsTest, TopicFoundWithRecordsIsServedOnceItWasRead) {
    ASSERT_EQ(put("a", 1), ErrorCode::none);
    shards_->forget_all(kNow);
    ASSERT_TRUE(shards_->attach(partitions_));
    shards_->serve(kNow);
    EXPECT_FALSE(shards_->is_complete());
    EXPECT_TRUE(rebuild_was_asked_for());
    ASSERT_TRUE(shards_->rebuild_lost());
    EXPECT_EQ(get("a"), 1);
}

// Writes to other partitions ---------------------------------------------------------------------------

TEST_F(CoordinatorShardsTest, WritesToOtherPartitionsAreDoneInOrderBeforeTheirReply) {
    const auto sent = send({0, 1, 0});
    ASSERT_TRUE(sent.has_value());
    EXPECT_THAT(sent->outcomes, ElementsAre(ErrorCode::none, ErrorCode::none, ErrorCode::none));
    EXPECT_THAT(values_of(*outward_[0]), ElementsAre("owed-100", "owed-102"));
    EXPECT_THAT(values_of(*outward_[1]), ElementsAre("owed-101"));
    start();
    EXPECT_EQ(outward_[0]->log->log_end_offset(), Offset{2}) << "nothing is owed any more";
}

TEST_F(CoordinatorShardsTest, WritesToOnePartitionAreOneWrite) {
    ASSERT_TRUE(send({0, 1}).has_value());
    world_.system.heal();
    ASSERT_TRUE(send({0}).has_value());
    const std::uint64_t calls_of_one = world_.system.calls();
    world_.system.heal();
    ASSERT_TRUE(send({0, 0, 0, 0, 0}).has_value());
    EXPECT_EQ(world_.system.calls(), calls_of_one);
}

TEST_F(CoordinatorShardsTest, NothingIsWrittenElsewhereBeforeTheRecordsAreDurable) {
    ASSERT_EQ(put("s", 1), ErrorCode::none);
    fail_next_write();
    EXPECT_FALSE(send({0, 1}).has_value());
    ASSERT_TRUE(shards_->rebuild_lost());
    EXPECT_EQ(outward_[0]->log->log_end_offset(), Offset{0});
    EXPECT_EQ(outward_[1]->log->log_end_offset(), Offset{0});
}

TEST_F(CoordinatorShardsTest, WriteThatFailsIsOwedUntilATimerTriesAgain) {
    ASSERT_TRUE(send({0, 1}).has_value());
    // The first call writes the record of the shard itself, the second one to partition 0.
    world_.system.fail_call(2, EIO);
    const auto sent = send({0, 1});
    ASSERT_TRUE(sent.has_value());
    EXPECT_THAT(sent->outcomes, ElementsAre(ErrorCode::kafka_storage_error, ErrorCode::none));
    EXPECT_EQ(outward_[0]->log->log_end_offset(), Offset{1});
    ASSERT_TRUE(shards_->next_deadline().has_value());
    shards_->tick(turn(), {.monotonic = *shards_->next_deadline(), .wall = {1}});
    EXPECT_EQ(outward_[0]->log->log_end_offset(), Offset{2});
    EXPECT_EQ(outward_[1]->log->log_end_offset(), Offset{2}) << "and nothing else";
    EXPECT_EQ(shards_->next_deadline(), std::nullopt);
}

TEST_F(CoordinatorShardsTest, WriteToAPartitionThatIsNotThereIsToldAndDoesNotKeepOthersFromTheirs) {
    const auto sent = send({5, 1});
    ASSERT_TRUE(sent.has_value());
    EXPECT_THAT(sent->outcomes, ElementsAre(ErrorCode::unknown_topic_or_partition, ErrorCode::none));
    EXPECT_EQ(outward_[1]->log->log_end_offset(), Offset{1});
}

TEST_F(CoordinatorShardsTest, WhatIsOwedIsWrittenAfterARebuildAlsoWhenItsEndCouldNotBeNoted) {
    ASSERT_TRUE(send({0}).has_value());
    // The calls are the record, the write to partition 0, and then the record that nothing is owed any more.
    world_.system.fail_call(3, EIO);
    EXPECT_FALSE(send({0}).has_value()) << "the answer depended on that record";
    EXPECT_EQ(outward_[0]->log->log_end_offset(), Offset{2});
    ASSERT_TRUE(shards_->rebuild_lost());
    EXPECT_EQ(outward_[0]->log->log_end_offset(), Offset{3}) << "once more, rather than never";
    start();
    EXPECT_EQ(outward_[0]->log->log_end_offset(), Offset{3});
}

using CoordinatorShardsDeathTest = CoordinatorShardsTest;

TEST_F(CoordinatorShardsDeathTest, CoreThatAsksForTooManyWritesAtOnceIsStopped) {
    EXPECT_TRUE(send(std::vector<std::int32_t>(coordination::kOutwardWritesMax, 0)).has_value());
    EXPECT_DEATH((void)send(std::vector<std::int32_t>(coordination::kOutwardWritesMax + 1, 0)), "so many writes at once");
}

TEST_F(CoordinatorShardsDeathTest, CoreThatAnswersItsWritesWithMoreWritesIsStopped) {
    ASSERT_TRUE(send({0, 1}).has_value());
    toy::Core::asks_when_told = true;
    world_.system.fail_call(2, EIO);
    EXPECT_DEATH((void)send({0}), "asks for no more");
}

}  // namespace
}  // namespace partita::runtime
