// Tests what clients see of a broker whose disk fails here and there. They see what Kafka's clients would see, and nothing that
// was acknowledged is lost. When the fault ends, the broker goes on without a restart.

#include <gmock/gmock.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "broker/runtime/upkeep/background_sync.h"
#include "protocol/record_batch_builder.h"
#include "schedule/clock.h"
#include "tests/support/broker_process.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/plain_client.h"

namespace partita::test {
namespace {

using ::testing::AnyOf;
using ::testing::SizeIs;

class BrokerFaults : public ::testing::Test {
  protected:
    void start(std::vector<std::string> overrides = {}) {
        if (!overrides.empty()) {
            overrides_ = std::move(overrides);
        }
        InProcessBroker::Options options{.data_directory = data_directory_, .file_system = &files_};
        options.metadata_store.commit_fault = [this] { return commit_fault_.load(); };
        options.overrides = {"offsets.topic.num.partitions=2"};
        options.overrides.insert(options.overrides.end(), overrides_.begin(), overrides_.end());
        broker_ = InProcessBroker::start(options);
        ASSERT_NE(broker_, nullptr);
        client_ = std::make_unique<PlainClient>(broker_->port());
    }
    void stop() {
        client_.reset();
        EXPECT_TRUE(broker_->stop());
        broker_.reset();
    }
    void kill() {
        client_.reset();
        broker_.reset();
    }
    void TearDown() override { kill(); }
    /// Errors to which every client reacts by looking for its coordinator and trying again.
    [[nodiscard]] static auto retriable() {
        return AnyOf(ErrorCode::not_coordinator, ErrorCode::coordinator_not_available, ErrorCode::coordinator_load_in_progress);
    }
    /// The committed offset that a client hears in the end when it keeps trying.
    [[nodiscard]] std::int64_t committed(const std::string& group) {
        std::optional<std::int64_t> offset;
        EXPECT_TRUE(eventually([&] { return (offset = client_->committed(group, "t", 0)).has_value(); }));
        return offset.value_or(-2);
    }
    [[nodiscard]] std::size_t records() {
        const auto read = client_->read_all("t", 0);
        EXPECT_TRUE(read.has_value());
        return read ? read->size() : 0;
    }

    TemporaryDirectory directory_;
    std::string data_directory_ = directory_ / "data";
    FaultyFileSystem files_;
    std::atomic<int> commit_fault_ = 0;
    std::vector<std::string> overrides_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<PlainClient> client_;
};

TEST_F(BrokerFaults, FailedAppendIsRefusedAndItsOffsetGivenToTheNext) {
    start();
    ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    ASSERT_EQ(client_->produce_value("t", 0, "first").base_offset, 0);
    files_.fail(FileOperation::write, "/t-0/", EIO, 0, 1);
    EXPECT_EQ(client_->produce_value("t", 0, "lost").error, ErrorCode::kafka_storage_error);
    EXPECT_EQ(client_->produce_value("t", 0, "second").base_offset, 1);
    EXPECT_EQ(records(), 2u);
    kill();
    start();
    EXPECT_EQ(records(), 2u);
}

TEST_F(BrokerFaults, FailedCoordinatorWriteIsRefusedAndWhatWasCommittedStays) {
    start();
    ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    ASSERT_EQ(client_->commit("g", "t", 0, 1), ErrorCode::none);
    for (int round = 0; round < 5; ++round) {
        files_.fail(FileOperation::write, "/__consumer_offsets-", ENOSPC, 0, 1);
        EXPECT_THAT(client_->commit("g", "t", 0, 100), retriable());
        EXPECT_EQ(committed("g"), 1 + round);
        ASSERT_EQ(client_->commit("g", "t", 0, 2 + round), ErrorCode::none);
    }
    EXPECT_EQ(files_.failures(), 5);
    kill();
    start();
    EXPECT_EQ(committed("g"), 6);
}

TEST_F(BrokerFaults, CoordinatorsServeReadsWhileTheirWritesFail) {
    start();
    ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    for (int group = 0; group < 10; ++group) {
        ASSERT_EQ(client_->commit("g" + std::to_string(group), "t", 0, group), ErrorCode::none);
    }
    files_.fail(FileOperation::write, "/__consumer_offsets-", ENOSPC);
    for (int group = 0; group < 10; ++group) {
        EXPECT_THAT(client_->commit("g" + std::to_string(group), "t", 0, 100), retriable());
        EXPECT_EQ(committed("g" + std::to_string(group)), group);
    }
    // Everything else than the coordinator goes on.
    EXPECT_EQ(client_->produce_value("t", 0, "value").error, ErrorCode::none);
    EXPECT_EQ(records(), 1u);
    files_.heal();
    EXPECT_TRUE(eventually([&] { return client_->commit("g0", "t", 0, 7) == ErrorCode::none; }));
    EXPECT_EQ(committed("g0"), 7);
}

TEST_F(BrokerFaults, TopicDeletedWhileItsCoordinatorIsRebuiltTakesItsOffsetsWithIt) {
    start();
    ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    ASSERT_EQ(client_->create_topic("other", 1).error, ErrorCode::none);
    ASSERT_EQ(client_->commit("g", "t", 0, 1), ErrorCode::none);
    ASSERT_EQ(client_->commit("g", "other", 0, 5), ErrorCode::none);
    // The broker cannot write the tombstones of the deletion; it does so when the coordinator is back.
    files_.fail(FileOperation::write, "/__consumer_offsets-", ENOSPC, 0, 1);
    ASSERT_EQ(client_->delete_topic("t"), ErrorCode::none);
    ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    EXPECT_EQ(committed("g"), -1);
    EXPECT_EQ(client_->committed("g", "other", 0), 5);
    EXPECT_EQ(files_.failures(), 1);
    kill();
    start();
    EXPECT_EQ(committed("g"), -1);
    EXPECT_EQ(client_->committed("g", "other", 0), 5);
}

TEST_F(BrokerFaults, FailedCatalogWriteRefusesTheChangeAndChangesNothing) {
    start();
    ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    ASSERT_EQ(client_->produce_value("t", 0, "value").error, ErrorCode::none);
    files_.fail(FileOperation::write, "/__partita_catalog-0/", ENOSPC);
    EXPECT_EQ(client_->create_topic("more", 1).error, ErrorCode::kafka_storage_error);
    EXPECT_EQ(client_->expand_topic("t", 2), ErrorCode::kafka_storage_error);
    EXPECT_EQ(client_->set_topic_config("t", "retention.ms", "1"), ErrorCode::kafka_storage_error);
    EXPECT_EQ(client_->delete_topic("t"), ErrorCode::kafka_storage_error);
    const auto check_unchanged = [&] {
        const auto topics = client_->metadata();
        ASSERT_TRUE(topics);
        EXPECT_FALSE(topics->contains("more"));
        ASSERT_TRUE(topics->contains("t"));
        EXPECT_EQ(topics->at("t").partitions, 1u);
        EXPECT_EQ(records(), 1u);
    };
    check_unchanged();
    kill();
    files_.heal();
    start();
    check_unchanged();
    // This works without a restart, too.
    files_.fail(FileOperation::write, "/__partita_catalog-0/", EIO, 0, 1);
    EXPECT_EQ(client_->expand_topic("t", 2), ErrorCode::kafka_storage_error);
    EXPECT_EQ(client_->expand_topic("t", 2), ErrorCode::none);
    EXPECT_EQ(client_->metadata()->at("t").partitions, 2u);
}

TEST_F(BrokerFaults, OffsetsTopicThatCannotBeMadeIsMadeAtTheNextTry) {
    start();
    ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    files_.fail(FileOperation::write, "/__partita_catalog-0/", ENOSPC, 0, 1);
    EXPECT_EQ(client_->commit("g", "t", 0, 1), ErrorCode::coordinator_not_available);
    EXPECT_EQ(client_->commit("g", "t", 0, 1), ErrorCode::none);
    EXPECT_EQ(committed("g"), 1);
}

TEST_F(BrokerFaults, FailedFoldCostsNothingButALongerStart) {
    start();
    ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    ASSERT_EQ(client_->commit("g", "t", 0, 1), ErrorCode::none);
    commit_fault_ = ENOSPC;
    ASSERT_EQ(client_->commit("g", "t", 0, 2), ErrorCode::none);
    stop();  // Folds, which fails.
    commit_fault_ = 0;
    start();
    EXPECT_EQ(committed("g"), 2);
    ASSERT_EQ(client_->commit("g", "t", 0, 3), ErrorCode::none);
    stop();  // Folds.
    start();
    EXPECT_TRUE(broker_->broker().storage().metadata_store->statistics().rows > 0);
    EXPECT_EQ(committed("g"), 3);
    EXPECT_TRUE(client_->metadata()->contains("t"));
}

TEST_F(BrokerFaults, OffsetsTopicMadeAnewKnowsNothingOfTheOldOneAfterAKill) {
    start();
    ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    ASSERT_EQ(client_->commit("g", "t", 0, 1), ErrorCode::none);
    stop();  // Folds: the store has the group now.
    start();
    ASSERT_EQ(committed("g"), 1);
    ASSERT_EQ(client_->delete_topic("__consumer_offsets"), ErrorCode::none);
    ASSERT_EQ(client_->commit("h", "t", 0, 7), ErrorCode::none);
    EXPECT_EQ(committed("g"), -1);
    kill();  // Maintenance may have forgotten the old rows or not: both must do.
    start();
    EXPECT_EQ(committed("g"), -1);
    EXPECT_EQ(committed("h"), 7);
    EXPECT_TRUE(eventually([&] {
        const auto names = broker_->broker().storage().metadata_store->logs();
        return names && std::ranges::none_of(*names, [](const std::string& name) {
                   return name.starts_with("__consumer_offsets-");  // "h" will be folded later.
               });
    }));
    stop();
    start();
    EXPECT_EQ(committed("h"), 7);
}

TEST_F(BrokerFaults, FailedProducerSnapshotsLeaveSequencesToTheRecovery) {
    start({"log.flush.offset.checkpoint.interval.ms=20"});
    ASSERT_EQ(client_->create_topic("t", 1, {{"segment.bytes", "1048576"}}).error, ErrorCode::none);
    const std::int64_t producer = client_->new_producer_id();
    ASSERT_GE(producer, 0);
    files_.fail(FileOperation::open, ".snapshot", ENOSPC);
    const std::string value(100'000, 'v');
    int acknowledged = 0;
    // Over several rolls, each of which wants to write a snapshot.
    for (int attempt = 0; attempt < 60 && acknowledged < 30; ++attempt) {
        const Produced produced = client_->produce_value("t", 0, value, producer, acknowledged);
        if (produced.error == ErrorCode::none) {
            EXPECT_EQ(produced.base_offset, acknowledged);
            ++acknowledged;
        } else {
            ASSERT_EQ(produced.error, ErrorCode::kafka_storage_error);
        }
    }
    ASSERT_GT(acknowledged, 0);
    EXPECT_GT(files_.failures(), 0);
    EXPECT_EQ(records(), static_cast<std::size_t>(acknowledged));
    kill();
    files_.heal();
    start();
    // The last one again: a duplicate, answered with the offset that it has.
    EXPECT_EQ(client_->produce_value("t", 0, value, producer, acknowledged - 1).base_offset, acknowledged - 1);
    EXPECT_EQ(client_->produce_value("t", 0, value, producer, acknowledged).base_offset, acknowledged);
    EXPECT_EQ(client_->produce_value("t", 0, value, producer, acknowledged + 5).error, ErrorCode::out_of_order_sequence_number);
    EXPECT_EQ(records(), static_cast<std::size_t>(acknowledged) + 1);
}

TEST_F(BrokerFaults, RecoveryIsNotRepeatedByASecondCrash) {
    start();  // A checkpoint each minute.
    ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    ASSERT_EQ(client_->produce_value("t", 0, "first").base_offset, 0);
    kill();
    start();
    const auto scanned = [&] {
        for (const RecoveryReport& report : broker_->broker().storage().logs->open_report().partitions) {
            if (report.directory == "t-0") {
                return report.scanned_bytes;
            }
        }
        return std::uint64_t{0};
    };
    EXPECT_GT(scanned(), 0u);
    EXPECT_TRUE(eventually([&] { return broker_->broker().storage().logs->bytes_since_checkpoint() == 0; }));
    EXPECT_TRUE(eventually([&] {
        auto text = read_whole_file(files_, data_directory_ + "/recovery-point-offset-checkpoint", 4096);
        return text && text->contains("t 0 1\n");
    }));
    kill();
    start();
    EXPECT_EQ(scanned(), 0u);
    EXPECT_EQ(records(), 1u);
}

TEST_F(BrokerFaults, MuchThatIsWrittenIsCheckpointedBeforeItsTime) {
    start();  // A checkpoint each minute.
    ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    const std::string value(1'000'000, 'v');
    constexpr std::uint64_t kMost = runtime::BackgroundSync::kCheckpointBytes;
    for (std::uint64_t written = 0; written < kMost; written += value.size()) {
        ASSERT_EQ(client_->produce_value("t", 0, value).error, ErrorCode::none);
    }
    EXPECT_TRUE(eventually([&] {
        auto text = read_whole_file(files_, data_directory_ + "/recovery-point-offset-checkpoint", 4096);
        return text && text->contains("t 0 ") && broker_->broker().storage().logs->bytes_since_checkpoint() < kMost / 2;
    }));
}

TEST_F(BrokerFaults, CheckpointThatFindsNoSpaceIsNotTriedAllTheTime) {
    start({"log.flush.offset.checkpoint.interval.ms=20"});
    files_.fail(FileOperation::open, "offset-checkpoint", ENOSPC);
    ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    ASSERT_EQ(client_->produce_value("t", 0, "first").base_offset, 0);
    SystemClock clock;
    const Instant began = clock.now().monotonic;
    EXPECT_TRUE(eventually([&] { return files_.failures() >= 2; }));
    // It fails once a second, not once each 20 ms; and this test may be slow to look.
    const int failures = files_.failures();
    EXPECT_LT(failures, 10 + (clock.now().monotonic - began) / 1000);
    files_.heal();
    EXPECT_TRUE(eventually([&] {
        auto text = read_whole_file(files_, data_directory_ + "/recovery-point-offset-checkpoint", 4096);
        return text && text->contains("t 0 1\n");
    }));
}

constexpr int kKeys = 8;
constexpr int kRounds = 12;

/// Writes two sealed segments and more of values of the same few keys, which no cleaning compacts yet: "<key>:<round> ...".
void write_compactable(PlainClient& client) {
    ASSERT_EQ(client
                  .create_topic("t", 1,
                                {{"cleanup.policy", "compact"},
                                 {"segment.bytes", "1048576"},
                                 {"min.cleanable.dirty.ratio", "0.01"},
                                 {"min.compaction.lag.ms", "3600000"}})
                  .error,
              ErrorCode::none);
    for (int round = 0; round < kRounds; ++round) {
        BatchBuilder builder;
        for (int key = 0; key < kKeys; ++key) {
            const std::string name = "k" + std::to_string(key);
            const std::string value = name + ":" + std::to_string(round) + " " + std::string(30'000, 'v');
            builder.append({wall_ms()}, as_bytes(name), as_bytes(value));
        }
        std::vector<std::byte> batch;
        builder.build(batch);
        ASSERT_EQ(client.produce("t", 0, batch).error, ErrorCode::none);
    }
}

[[nodiscard]] bool let_compaction_begin(PlainClient& client) {
    return client.set_topic_config("t", "min.compaction.lag.ms", "0") == ErrorCode::none;
}

/// Expects the value of the last round for every key; earlier ones may be there or not.
void expect_last_values(PlainClient& client) {
    const auto records = client.read_all("t", 0);
    ASSERT_TRUE(records);
    std::map<std::string, std::string> last;
    for (const ReadRecord& record : *records) {
        const std::string text = record.value.substr(0, record.value.find(' '));
        last[text.substr(0, text.find(':'))] = text.substr(text.find(':') + 1);
    }
    EXPECT_THAT(last, SizeIs(kKeys));
    for (const auto& [key, round] : last) {
        EXPECT_EQ(round, std::to_string(kRounds - 1)) << key;
    }
}

const std::vector<std::string> kCleanedOften{"log.cleaner.backoff.ms=20", "log.initial.task.delay.ms=50"};

TEST_F(BrokerFaults, CompactionThatCannotRenameItsFilesIsTriedAgain) {
    start(kCleanedOften);
    ASSERT_NO_FATAL_FAILURE(write_compactable(*client_));
    // The first cleaning fails at its first file, the second one at its second.
    files_.fail(FileOperation::rename, ".swap", EIO, 0, 1);
    files_.fail(FileOperation::rename, ".swap", EIO, 1, 1);
    ASSERT_TRUE(let_compaction_begin(*client_));
    EXPECT_TRUE(eventually([&] { return files_.failures() == 2; }));
    EXPECT_TRUE(eventually([&] { return records() < std::size_t{kRounds} * kKeys; })) << "it was not compacted after all";
    expect_last_values(*client_);
    kill();
    start();
    expect_last_values(*client_);
}

using BrokerFaultsDeathTest = BrokerFaults;

TEST_F(BrokerFaultsDeathTest, FailedSyncEndsTheProcessBecauseThePageCacheCannotBeTrusted) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto lose_a_sync = [&] {
        start();
        (void)client_->create_topic("t", 1);
        files_.fail(FileOperation::sync, "/t-0/", EIO);
        (void)client_->produce_value("t", 0, "value");
        // The background sync comes within a second or so.
        (void)eventually([] { return false; });
    };
    EXPECT_EXIT(lose_a_sync(), ::testing::ExitedWithCode(1), "");
}

TEST_F(BrokerFaultsDeathTest, CompactionThatFailsHalfwayIntoPlaceIsFinishedByTheNextStart) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    // Another process dies, which begins this test anew: a variable tells it where to leave its data.
    constexpr const char* kVariable = "PARTITA_FAULTS_DIRECTORY";
    ::setenv(kVariable, data_directory_.c_str(), 0);
    data_directory_ = ::getenv(kVariable);
    const auto fail_halfway = [&] {
        start(kCleanedOften);
        write_compactable(*client_);
        // The second rename to such a name makes the file that readers would find.
        files_.fail(FileOperation::rename, "/t-0/00000000000000000000.log", EIO, 1, 1);
        (void)let_compaction_begin(*client_);
        (void)eventually([] { return false; });
    };
    EXPECT_EXIT(fail_halfway(), ::testing::ExitedWithCode(1), "");
    ::unsetenv(kVariable);
    start(kCleanedOften);
    EXPECT_LT(records(), std::size_t{kRounds} * kKeys);
    expect_last_values(*client_);
}

}  // namespace
}  // namespace partita::test
