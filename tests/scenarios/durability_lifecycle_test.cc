// Tests how data gets to the disk, how it leaves it, and how it comes back from directories that were touched meanwhile.

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/broker_process.h"
#include "tests/support/plain_client.h"
#include "tests/support/tests_directory.h"

namespace partita::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class DurabilityLifecycle : public ::testing::Test {
  protected:
    void start(std::vector<std::string> overrides = {}) {
        overrides.push_back("offsets.topic.num.partitions=3");
        options_.overrides = std::move(overrides);
        broker_.reset();
        broker_ = BrokerProcess::start(options_);
        ASSERT_NE(broker_, nullptr);
        client_ = std::make_unique<PlainClient>(broker_->port());
    }
    void kill_and_restart() {
        broker_->send_signal(SIGKILL);
        (void)broker_->wait();
        broker_.reset();
        start_again();
    }
    void stop_and_restart() {
        EXPECT_EQ(broker_->stop().exit_code, 0);
        start_again();
    }
    void start_again() {
        broker_.reset();
        broker_ = BrokerProcess::start(options_);
        ASSERT_NE(broker_, nullptr);
        client_ = std::make_unique<PlainClient>(broker_->port());
    }
    void produce(const std::string& topic, int count, std::size_t bytes = 100) {
        for (int i = 0; i < count; ++i) {
            ASSERT_EQ(client_->produce_value(topic, 0, std::string(bytes, 'v')).error, ErrorCode::none);
        }
    }
    [[nodiscard]] fs::path data(const std::string& name) const { return fs::path(options_.data_directory) / name; }
    [[nodiscard]] std::size_t entries_with(const std::string& part) const {
        std::size_t count = 0;
        for (const auto& entry : fs::directory_iterator(options_.data_directory)) {
            count += entry.path().filename().string().find(part) != std::string::npos ? 1 : 0;
        }
        return count;
    }

    TemporaryDirectory directory_;
    BrokerProcess::Options options_{.data_directory = directory_ / "data"};
    std::unique_ptr<BrokerProcess> broker_;
    std::unique_ptr<PlainClient> client_;
};

TEST_F(DurabilityLifecycle, FlushMessagesSyncsBeforeTheAnswerAndWritersShareSyncs) {
    start();
    ASSERT_EQ(client_->create_topic("synced", 1, {{"flush.messages", "1"}}).error, ErrorCode::none);
    const double before = broker_->metric("partita_log_syncs_total").value_or(-1);
    ASSERT_GE(before, 0);
    ASSERT_NO_FATAL_FAILURE(produce("synced", 10));
    // A single client needs a separate sync for every answer.
    const double alone = broker_->metric("partita_log_syncs_total").value_or(-1) - before;
    EXPECT_GE(alone, 10);

    constexpr int kWriters = 16;
    constexpr int kEach = 40;
    std::vector<std::thread> writers;
    std::atomic<int> failed = 0;
    for (int writer = 0; writer < kWriters; ++writer) {
        writers.emplace_back([&] {
            PlainClient client(broker_->port());
            for (int i = 0; i < kEach; ++i) {
                if (client.produce_value("synced", 0, "v").error != ErrorCode::none) {
                    ++failed;
                }
            }
        });
    }
    for (std::thread& writer : writers) {
        writer.join();
    }
    EXPECT_EQ(failed, 0);
    const double shared = broker_->metric("partita_log_syncs_total").value_or(-1) - before - alone;
    EXPECT_GT(shared, 0);
    EXPECT_LT(shared, kWriters * kEach * 0.8);
    std::printf("%d appends of %d writers: %.0f syncs\n", kWriters * kEach, kWriters, shared);
}

TEST_F(DurabilityLifecycle, BackgroundSyncCoversAWriteAndThenEverythingSleeps) {
    start();
    ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    ASSERT_NO_FATAL_FAILURE(produce("t", 1));
    const auto syncs = [&] { return broker_->metric("partita_log_syncs_total").value_or(-1); };
    // The syncs of the catalog's log and of this one.
    EXPECT_TRUE(eventually([&] { return syncs() >= 2; }));
    const double before = syncs();
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    EXPECT_EQ(syncs(), before);
}

TEST_F(DurabilityLifecycle, DeletingATopicDoesNotStopABrokerThatSyncsForIt) {
    start();
    std::atomic<bool> stop = false;
    std::vector<std::thread> writers;
    for (int writer = 0; writer < 4; ++writer) {
        writers.emplace_back([&] {
            PlainClient client(broker_->port());
            while (!stop) {
                (void)client.produce_value("synced", 0, "v");
            }
        });
    }
    for (int round = 0; round < 30; ++round) {
        ASSERT_EQ(client_->create_topic("synced", 1, {{"flush.messages", "1"}}).error, ErrorCode::none);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ASSERT_EQ(client_->delete_topic("synced"), ErrorCode::none) << "round " << round;
    }
    stop = true;
    for (std::thread& writer : writers) {
        writer.join();
    }
    EXPECT_TRUE(broker_->is_running());
}

TEST_F(DurabilityLifecycle, RetentionByTimeAndSizeRemovesSegmentsAndSurvivesRestarts) {
    start({"log.retention.check.interval.ms=100", "log.initial.task.delay.ms=100"});
    ASSERT_EQ(client_->create_topic("sized", 1, {{"segment.bytes", "1048576"}, {"retention.bytes", "2097152"}}).error,
              ErrorCode::none);
    ASSERT_EQ(client_->create_topic("timed", 1, {{"retention.ms", "1000"}}).error, ErrorCode::none);
    ASSERT_NO_FATAL_FAILURE(produce("sized", 60, 100'000));
    ASSERT_NO_FATAL_FAILURE(produce("timed", 3));
    EXPECT_TRUE(eventually([&] { return client_->list_offset("sized", 0, -2).value_or(0) > 20; }));
    EXPECT_TRUE(eventually([&] { return disk_usage(data("sized-0")) < 4u << 20; }));
    EXPECT_TRUE(eventually([&] { return client_->list_offset("timed", 0, -2) == 3; }));
    EXPECT_EQ(client_->list_offset("timed", 0, -1), 3);
    const auto start_offset = client_->list_offset("sized", 0, -2);
    kill_and_restart();
    EXPECT_GE(client_->list_offset("sized", 0, -2), start_offset);
    EXPECT_EQ(client_->list_offset("sized", 0, -1), 60);
    EXPECT_EQ(client_->list_offset("timed", 0, -2), 3);
    // The broker does not give out offsets again, though every record is gone.
    EXPECT_EQ(client_->produce_value("timed", 0, "v").base_offset, 3);
}

TEST_F(DurabilityLifecycle, ProducersAreForgottenInTheIntervalOfTheirOwnCheck) {
    start({"producer.id.expiration.ms=50", "producer.id.expiration.check.interval.ms=50"});
    ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    const std::int64_t producer = client_->new_producer_id();
    ASSERT_EQ(client_->produce_value("t", 0, "v", producer, 0).error, ErrorCode::none);
    // The broker accepts any first sequence from a producer that it does not know.
    EXPECT_TRUE(eventually([&] { return client_->produce_value("t", 0, "v", producer, 7).error == ErrorCode::none; }));
}

TEST_F(DurabilityLifecycle, DeletedRecordsStayDeleted) {
    start();
    ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    ASSERT_NO_FATAL_FAILURE(produce("t", 10));
    ASSERT_EQ(client_->delete_records("t", 0, 6), ErrorCode::none);
    ASSERT_TRUE(eventually([&] {
        std::ifstream file(data("log-start-offset-checkpoint"));
        const std::string text((std::istreambuf_iterator<char>(file)), {});
        return text.find("t 0 6") != std::string::npos;
    }));
    kill_and_restart();
    EXPECT_EQ(client_->list_offset("t", 0, -2), 6);
    stop_and_restart();
    EXPECT_EQ(client_->list_offset("t", 0, -2), 6);
    ASSERT_EQ(client_->read_all("t", 0, 6)->size(), 4u);
}

TEST_F(DurabilityLifecycle, DeletedTopicFreesTheDiskAndItsNameBeginsAnew) {
    start();
    const auto first = client_->create_topic("t", 1);
    ASSERT_NO_FATAL_FAILURE(produce("t", 30, 100'000));
    ASSERT_EQ(client_->commit("g", "t", 0, 17), ErrorCode::none);
    EXPECT_GT(disk_usage(options_.data_directory), 3'000'000u);
    ASSERT_EQ(client_->delete_topic("t"), ErrorCode::none);
    EXPECT_TRUE(eventually([&] { return disk_usage(options_.data_directory) < 1'000'000; }));
    const auto second = client_->create_topic("t", 1);
    EXPECT_NE(first.id, second.id);
    EXPECT_EQ(client_->list_offset("t", 0, -1), 0);
    EXPECT_EQ(client_->committed("g", "t", 0), -1);
    EXPECT_EQ(client_->produce_value("t", 0, "v").base_offset, 0);
    kill_and_restart();
    EXPECT_EQ(client_->metadata()->at("t").id, second.id);
    EXPECT_EQ(client_->list_offset("t", 0, -1), 1);
    EXPECT_EQ(client_->committed("g", "t", 0), -1);
}

TEST_F(DurabilityLifecycle, OffsetsAndTopicsAreRebuiltFromTheLogsWithoutLmdb) {
    start();
    const auto created = client_->create_topic("t", 4);
    for (int offset = 1; offset <= 100; ++offset) {
        ASSERT_EQ(client_->commit("g" + std::to_string(offset % 5), "t", 0, offset), ErrorCode::none);
    }
    EXPECT_EQ(broker_->stop().exit_code, 0);
    broker_.reset();
    ASSERT_TRUE(fs::remove_all(data("partita-metadata")));
    start_again();
    EXPECT_EQ(client_->metadata()->at("t").id, created.id);
    EXPECT_EQ(client_->committed("g0", "t", 0), 100);
    EXPECT_EQ(client_->committed("g4", "t", 0), 99);
}

TEST_F(DurabilityLifecycle, FoldedStateServesWhenTheLogsTailIsEmpty) {
    start();
    ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    ASSERT_EQ(client_->commit("g", "t", 0, 5), ErrorCode::none);
    // The stop folds; a second start and stop has nothing to fold.
    stop_and_restart();
    EXPECT_EQ(client_->committed("g", "t", 0), 5);
    stop_and_restart();
    EXPECT_EQ(client_->committed("g", "t", 0), 5);
    ASSERT_EQ(client_->commit("g", "t", 0, 6), ErrorCode::none);
    kill_and_restart();
    EXPECT_EQ(client_->committed("g", "t", 0), 6);
}

TEST_F(DurabilityLifecycle, DamagedLmdbIsRefusedWithOneLine) {
    start();
    ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    ASSERT_EQ(broker_->stop().exit_code, 0);
    broker_.reset();
    client_.reset();
    {
        std::fstream file(data("partita-metadata/data.mdb"), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(0);
        file.write(std::string(8192, '\x5a').data(), 8192);
    }
    const Finished finished = BrokerProcess::run(options_);
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_THAT(finished.output, HasSubstr("partita-metadata"));
}

TEST_F(DurabilityLifecycle, NewerFormatAndSecondProcessAreRefused) {
    start();
    const Finished second = BrokerProcess::run(options_);
    EXPECT_EQ(second.exit_code, 2);
    EXPECT_THAT(second.output, HasSubstr("process " + std::to_string(broker_->process_id())));
    ASSERT_EQ(broker_->stop().exit_code, 0);
    broker_.reset();
    std::ofstream(data("partita.properties")) << "format.version=99\n";
    const Finished newer = BrokerProcess::run(options_);
    EXPECT_EQ(newer.exit_code, 2);
    EXPECT_THAT(newer.output, HasSubstr("format 99"));
}

TEST_F(DurabilityLifecycle, SegmentsOfARealKafkaInPlaceOfOursAreServed) {
    const fs::path fixture = test::tests_directory() / "golden/segments/killed/fixture-0";
    start();
    ASSERT_EQ(client_->create_topic("fixture", 1).error, ErrorCode::none);
    ASSERT_NO_FATAL_FAILURE(produce("fixture", 3));
    broker_->send_signal(SIGKILL);
    (void)broker_->wait();
    broker_.reset();
    for (const auto& entry : fs::directory_iterator(data("fixture-0"))) {
        if (entry.path().filename() != "partition.metadata") {
            fs::remove(entry.path());
        }
    }
    for (const auto& entry : fs::directory_iterator(fixture)) {
        if (entry.path().filename() != "partition.metadata") {
            fs::copy(entry.path(), data("fixture-0") / entry.path().filename());
        }
    }
    start_again();
    const auto records = client_->read_all("fixture", 0);
    ASSERT_TRUE(records);
    EXPECT_EQ(records->size(), 90u + 2u);
}

TEST_F(DurabilityLifecycle, DirectoriesThatOnlyLookLikePartitionsAreLeftAlone) {
    // Directories of no topic, with more partitions than any topic has, and with the largest number that a name can hold.
    for (const char* name : {"backup-20261121", "notes-7", "t-2147483647"}) {
        fs::create_directories(data(name));
    }
    std::ofstream(data("t-2147483647") / "partition.metadata") << "version: 0\ntopic_id: OB4qqEFMQCmc8CLPf8hLtw";
    ASSERT_NO_FATAL_FAILURE(start());
    EXPECT_EQ(client_->create_topic("notes", 2).error, ErrorCode::none) << "the name is taken";
    for (const char* name : {"backup-20261121", "notes-7", "t-2147483647"}) {
        EXPECT_TRUE(fs::is_directory(data(name))) << name;
        EXPECT_EQ(broker_->count_in_output(std::string("belongs to no topic of the catalog directory=") + name + " "), 1u)
            << broker_->output();
    }
}

TEST_F(DurabilityLifecycle, DirectoryThatCannotBeOpenedMakesWayForANewTopicAndIsKept) {
    // There is a directory instead of a segment, so that the broker cannot open it as a log.
    fs::create_directories(data("notes-1") / "00000000000000000000.log" / "kept");
    ASSERT_NO_FATAL_FAILURE(start());
    EXPECT_THAT(broker_->output(), HasSubstr("the partition is not served directory=notes-1"));
    ASSERT_EQ(client_->create_topic("notes", 2).error, ErrorCode::none);
    EXPECT_EQ(client_->produce_value("notes", 1, "v").error, ErrorCode::none);
    EXPECT_THAT(broker_->output(), HasSubstr("cannot be opened and that a new partition needed"));
    ASSERT_NO_FATAL_FAILURE(kill_and_restart());
    EXPECT_EQ(client_->list_offset("notes", 1, -1), 1);
    EXPECT_EQ(entries_with("-stray"), 1u);
}

TEST_F(DurabilityLifecycle, DirectoryOfAnotherTopicIdIsSetAsideAndNeverDeleted) {
    start();
    ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    ASSERT_NO_FATAL_FAILURE(produce("t", 3));
    broker_->send_signal(SIGKILL);
    (void)broker_->wait();
    broker_.reset();
    std::ofstream(data("t-0/partition.metadata")) << "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAABQ\n";
    start_again();
    EXPECT_EQ(client_->list_offset("t", 0, -1), 0);
    EXPECT_THAT(broker_->output(), HasSubstr("-stray"));
    EXPECT_EQ(entries_with("-stray"), 1u);
    ASSERT_NO_FATAL_FAILURE(produce("t", 1));
    stop_and_restart();
    EXPECT_EQ(entries_with("-stray"), 1u);
    // As the warning says: the broker serves it without partition.metadata and under its old name.
    ASSERT_EQ(broker_->stop().exit_code, 0);
    broker_.reset();
    fs::remove_all(data("t-0"));
    for (const auto& entry : fs::directory_iterator(options_.data_directory)) {
        if (entry.path().filename().string().ends_with("-stray")) {
            fs::remove(entry.path() / "partition.metadata");
            fs::rename(entry.path(), data("t-0"));
            break;
        }
    }
    start_again();
    EXPECT_EQ(client_->list_offset("t", 0, -1), 3);
}

// The broker has synced neither when it answers the expansion, so a power failure may take the one and leave the other.
TEST_F(DurabilityLifecycle, FenceOfAnExpansionThatAPowerFailureUndidIsForgotten) {
    start();
    ASSERT_EQ(client_->create_topic("t", 2, {{"partita.expansion.mode", "fenced"}}).error, ErrorCode::none);
    ASSERT_NO_FATAL_FAILURE(produce("t", 3));
    ASSERT_EQ(broker_->stop().exit_code, 0);
    const fs::path without_expansion = directory_ / "before";
    fs::copy(options_.data_directory, without_expansion, fs::copy_options::recursive);
    fs::remove(without_expansion / ".kafka_cleanshutdown");
    start_again();
    ASSERT_EQ(client_->expand_topic("t", 4), ErrorCode::none);
    broker_->send_signal(SIGKILL);
    (void)broker_->wait();
    ASSERT_FALSE(fs::is_empty(data("partita-fences")));
    fs::copy(data("partita-fences"), without_expansion / "partita-fences", fs::copy_options::recursive);
    options_.data_directory = without_expansion;
    ASSERT_NO_FATAL_FAILURE(start_again());
    EXPECT_EQ(client_->metadata()->at("t").partitions, 2u);
    ASSERT_NO_FATAL_FAILURE(produce("t", 1));
    EXPECT_EQ(client_->expand_topic("t", 4), ErrorCode::none);
    EXPECT_EQ(client_->produce_value("t", 3, "v").error, ErrorCode::none);
    stop_and_restart();
    EXPECT_EQ(client_->metadata()->at("t").partitions, 4u);
}

TEST_F(DurabilityLifecycle, CommitsGoOnWhenTheOffsetsTopicWasDeleted) {
    start();
    ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
    ASSERT_EQ(client_->commit("g", "t", 0, 5), ErrorCode::none);
    const ErrorCode deleted = client_->delete_topic("__consumer_offsets");
    if (deleted == ErrorCode::none) {
        EXPECT_TRUE(eventually([&] { return client_->commit("g", "t", 0, 6) == ErrorCode::none; }));
        EXPECT_EQ(client_->committed("g", "t", 0), 6);
        EXPECT_EQ(client_->committed("other", "t", 0), -1);
    }
    EXPECT_TRUE(broker_->is_running());
}

}  // namespace
}  // namespace partita::test
