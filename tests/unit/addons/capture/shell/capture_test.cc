// Capture as the broker runs it, one step after the other, with a clock that stands still and files in memory.

#include "broker/addons/capture/shell/capture.h"

#include <cerrno>

#include <gmock/gmock.h>

#include <functional>
#include <numeric>

#include "broker/logs/published_topics.h"
#include "tests/support/storage_fixture.h"
#include "tests/unit/addons/capture/avro_events.h"
#include "tests/unit/catalog/catalog_fixture.h"
#include "tests/unit/runtime/still_clock.h"

namespace partita::capture {
namespace {

using namespace runtime;

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// The test takes the steps.
class OneWorker final : public Executor {
  public:
    std::unique_ptr<Worker> start(std::string_view, Step step) override {
        this->step = std::move(step);
        return std::make_unique<Handle>();
    }
    Step step;

  private:
    class Handle final : public Worker {
        void wake() override {}
    };
};

/// A topic of one partition that is captured to a directory in memory.
class CaptureTest : public ::testing::Test {
  protected:
    static constexpr std::int64_t kIntervalMs = 60'000;

    void SetUp() override {
        ASSERT_FALSE(catalog_.create("orders", 1).failed());
        configs_ = {{"partita.capture.enable", "true"}, {"partita.capture.interval.ms", std::to_string(kIntervalMs)}};
        begin_anew();
    }
    /// Begins again with an empty log and an empty directory.
    void begin_anew() {
        capture_.reset();
        topics_.publish(std::make_shared<logs::TopicTable>());
        log_.reset();
        world_ = std::make_unique<test::StorageWorld>();
        log_ = world_->shared_log();
        files_ = std::make_unique<test::MemoryFileSystem>();
        clock_.ms = 1'770'260'649'000;  // 2026-02-05T03:04:09Z
        steps_ = 0;
        publish();
        start();
    }

    void publish() {
        auto table = std::make_shared<logs::TopicTable>();
        table->catalog = catalog_.core().snapshot();
        for (const catalog::Topic& topic : table->catalog->topics()) {
            auto state = std::make_shared<logs::TopicState>();
            const auto configured = std::make_shared<catalog::Topic>(topic);
            configured->configs = configs_;
            state->topic = configured;
            state->config = std::make_shared<const config::TopicConfig>();
            state->partitions.push_back(std::make_shared<logs::Partition>(log_, fetch::PartitionKey{1}));
            table->put(std::move(state));
        }
        topics_.publish(std::move(table));
    }
    void start() {
        capture_.reset();
        capture_ = std::make_unique<Capture>(config_, topics_, *files_, counters_, Schedule{clock_, executor_});
        capture_->start();
    }
    /// Runs the steps that are due at this moment, and those that follow from them.
    void run() {
        for (Instant next = kAtOnce; next <= Instant{clock_.ms}; ++steps_) {
            ASSERT_LT(steps_, 10'000) << "it does not come to rest";
            next = executor_.step();
        }
    }
    void pass(std::int64_t ms) {
        for (const std::int64_t end = clock_.ms + ms; clock_.ms < end; clock_.ms = std::min(end, clock_.ms + 1000)) {
            run();
        }
        run();
    }

    void append(const test::TestBatch& wanted) { append_bytes(test::make_batch(wanted)); }
    void append_bytes(std::vector<std::byte> batch) {
        ASSERT_TRUE(log_->append(batch, {.leader_epoch = LeaderEpoch{0}, .now = {1}}).has_value());
    }
    void append_transaction(std::int64_t producer, ControlRecordType end) {
        append({.records = 2,
                .producer_id = ProducerId{producer},
                .producer_epoch = ProducerEpoch{0},
                .base_sequence = Sequence{0},
                .transactional = true});
        std::vector<std::byte> marker;
        build_end_transaction_marker({.type = end}, log_->log_end_offset(), LeaderEpoch{0}, ProducerId{producer},
                                     ProducerEpoch{0}, TimestampMs{1000}, marker);
        append_bytes(std::move(marker));
    }

    /// Names of the files, without those of the work directory.
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const std::string& path : files_->files_below("/captured")) {
            if (path.ends_with(".avro")) {
                names.push_back(path);
            }
        }
        return names;
    }
    [[nodiscard]] std::vector<std::int64_t> offsets_in(const std::string& path) const {
        std::vector<std::int64_t> offsets;
        for (const test::AvroEvent& event : test::AvroFileReader::read(files_->content(path))) {
            offsets.push_back(event.sequence_number);
        }
        return offsets;
    }
    /// Collects from all files, in the order of their names.
    [[nodiscard]] std::vector<std::int64_t> captured() const {
        std::vector<std::int64_t> all;
        for (const std::string& name : names()) {
            const auto some = offsets_in(name);
            all.insert(all.end(), some.begin(), some.end());
        }
        return all;
    }
    [[nodiscard]] const CaptureCounters& counts() const { return counters_; }

    static std::vector<std::int64_t> first(std::int64_t count) {
        std::vector<std::int64_t> offsets(static_cast<std::size_t>(count));
        std::iota(offsets.begin(), offsets.end(), 0);
        return offsets;
    }
    static std::shared_ptr<const config::BrokerConfig> broker_config() {
        auto loaded = config::load_broker_config(
            {.properties = {}, .environment = {}, .overrides = {"partita.capture.directory=/captured/"}});
        return std::make_shared<const config::BrokerConfig>(loaded->config);
    }

    test::StillClock clock_;
    std::unique_ptr<test::StorageWorld> world_;
    std::shared_ptr<PartitionLog> log_;
    std::unique_ptr<test::MemoryFileSystem> files_;
    catalog::TestCatalog catalog_;
    config::ConfigMap configs_;
    config::CurrentConfig config_{broker_config()};
    logs::PublishedTopics topics_;
    OneWorker executor_;
    CaptureCounters counters_;
    std::unique_ptr<Capture> capture_;
    int steps_ = 0;
};

TEST_F(CaptureTest, AFileIsWrittenWhenTheTimeOfAWindowIsOver) {
    append({.records = 3});
    pass(kIntervalMs - 1);
    EXPECT_THAT(names(), IsEmpty());
    EXPECT_EQ(counts().backlog_messages, 3);
    pass(1);
    EXPECT_THAT(names(), ElementsAre("/captured/partita/orders/0/2026/02/05/03/05/09.avro"));
    EXPECT_THAT(captured(), ElementsAre(0, 1, 2));
    EXPECT_EQ(counts().messages, 3);
    EXPECT_EQ(counts().bytes, files_->content(names()[0]).size());
    pass(1000);
    EXPECT_EQ(counts().backlog_messages, 0);
}

TEST_F(CaptureTest, AFileIsWrittenAsSoonAsEnoughWaits) {
    configs_["partita.capture.size.bytes"] = "2000";
    publish();
    append({.records = 10, .value_bytes = 90});
    pass(2000);
    EXPECT_THAT(names(), IsEmpty());
    for (int batch = 0; batch < 4; ++batch) {
        append({.records = 10, .value_bytes = 90});
    }
    pass(4000);
    EXPECT_THAT(names(), SizeIs(4)) << "what is less than the size waits for the end of the window";
    for (const std::string& name : names()) {
        EXPECT_LT(files_->content(name).size(), 2000 + 300);
    }
    pass(kIntervalMs);
    EXPECT_EQ(captured(), first(50));
}

TEST_F(CaptureTest, AnIdlePartitionHasAnEmptyFileForEachWindowUnlessTheyAreSkipped) {
    pass(2 * kIntervalMs);
    ASSERT_THAT(names(), SizeIs(2));
    EXPECT_THAT(captured(), IsEmpty());
    configs_["partita.capture.skip.empty"] = "true";
    publish();
    pass(5 * kIntervalMs);
    EXPECT_THAT(names(), SizeIs(2));
    append({.records = 1});
    pass(kIntervalMs);
    EXPECT_THAT(names(), SizeIs(3));
    EXPECT_THAT(captured(), ElementsAre(0));
}

TEST_F(CaptureTest, WhatWasAbortedAndMarkersAreLeftOutAndWhatIsOpenWaits) {
    append({.records = 1});
    append_transaction(7, ControlRecordType::abort);
    append_transaction(8, ControlRecordType::commit);
    append({.records = 1, .producer_id = ProducerId{9}, .producer_epoch = {0}, .base_sequence = {0}, .transactional = true});
    append({.records = 1});
    pass(kIntervalMs);
    EXPECT_THAT(captured(), ElementsAre(0, 4, 5));
    std::vector<std::byte> marker;
    build_end_transaction_marker({.type = ControlRecordType::commit}, log_->log_end_offset(), LeaderEpoch{0}, ProducerId{9},
                                 ProducerEpoch{0}, TimestampMs{1000}, marker);
    append_bytes(std::move(marker));
    pass(kIntervalMs);
    EXPECT_THAT(captured(), ElementsAre(0, 4, 5, 7, 8));
}

TEST_F(CaptureTest, ManyAbortedTransactionsAreToldApart) {
    std::vector<std::int64_t> kept;
    for (std::int64_t producer = 1; producer <= 40; ++producer) {
        if (producer % 3 == 0) {
            kept.insert(kept.end(), {log_->log_end_offset().value, log_->log_end_offset().value + 1});
        }
        append_transaction(producer, producer % 3 == 0 ? ControlRecordType::commit : ControlRecordType::abort);
    }
    configs_["partita.capture.size.bytes"] = "1500";
    publish();
    pass(kIntervalMs);
    EXPECT_EQ(captured(), kept);
}

TEST_F(CaptureTest, CompressedRecordsFillSeveralFilesAtTheEndOfAWindow) {
    configs_["partita.capture.size.bytes"] = "20000";
    publish();
    append({.records = 1000, .value_bytes = 100, .codec = Codec::zstd});
    pass(kIntervalMs);
    EXPECT_THAT(names(), SizeIs(1));
    pass(10'000);
    // Four of 20 kB, a second apart, and then a large one.
    EXPECT_THAT(names(), SizeIs(5));
    EXPECT_EQ(captured(), first(1000));
}

TEST_F(CaptureTest, RecordsThatWereRemovedBeforeAreCounted) {
    pass(1000);
    append({.records = 10});
    ASSERT_TRUE(log_->delete_records_before(Offset{4}).has_value());
    pass(kIntervalMs);
    EXPECT_THAT(captured(), ElementsAre(4, 5, 6, 7, 8, 9));
    EXPECT_EQ(counts().lost_messages, 4);
}

TEST_F(CaptureTest, BeginsWithTheOldestRecordThatThereIs) {
    append({.records = 10});
    ASSERT_TRUE(log_->delete_records_before(Offset{8}).has_value());
    pass(kIntervalMs);
    EXPECT_THAT(captured(), ElementsAre(8, 9));
    EXPECT_EQ(counts().lost_messages, 0);
}

TEST_F(CaptureTest, GoesOnWhereItStoppedWhenItWasSwitchedOff) {
    append({.records = 2});
    pass(kIntervalMs);
    configs_["partita.capture.enable"] = "false";
    publish();
    append({.records = 2});
    pass(2 * kIntervalMs);
    EXPECT_EQ(captured(), first(2));
    EXPECT_EQ(counts().backlog_messages, 0) << "nobody waits for them";
    configs_["partita.capture.enable"] = "true";
    publish();
    pass(kIntervalMs);
    EXPECT_EQ(captured(), first(4));
}

TEST_F(CaptureTest, ATopicThatWasDeletedLeavesItsFilesAndNothingElse) {
    append({.records = 2});
    pass(kIntervalMs);
    const catalog::DeleteTopics deletion{.topics = {{.name = "orders", .id = {}}}, .client = {}};
    ASSERT_FALSE(catalog_.carry_out(deletion).topics.at(0).error.failed());
    publish();
    pass(1000);
    EXPECT_THAT(files_->files_below("/captured"), ElementsAre("/captured/.partita-capture/lock", names()[0]));
    EXPECT_EQ(captured(), first(2));
}

TEST_F(CaptureTest, ATopicMadeAgainIsCapturedFromItsBeginning) {
    append({.records = 2});
    pass(kIntervalMs);
    const catalog::DeleteTopics deletion{.topics = {{.name = "orders", .id = {}}}, .client = {}};
    ASSERT_FALSE(catalog_.carry_out(deletion).topics.at(0).error.failed());
    // Capture does not look between the two.
    ASSERT_FALSE(catalog_.create("orders", 1).failed());
    const auto former = std::move(world_);
    const auto former_log = std::move(log_);
    world_ = std::make_unique<test::StorageWorld>();
    log_ = world_->shared_log();
    publish();
    append({.records = 1});
    pass(kIntervalMs);
    EXPECT_EQ(captured(), (std::vector<std::int64_t>{0, 1, 0}));
    capture_.reset();
}

TEST_F(CaptureTest, AFileOfSomebodyElseIsNotReplaced) {
    ASSERT_TRUE(files_->make_directories("/captured/partita/orders/0/2026/02/05/03/05").has_value());
    files_->set_content("/captured/partita/orders/0/2026/02/05/03/05/09.avro", "theirs");
    append({.records = 1});
    pass(kIntervalMs);
    EXPECT_EQ(files_->content("/captured/partita/orders/0/2026/02/05/03/05/09.avro"), "theirs");
    EXPECT_THAT(offsets_in("/captured/partita/orders/0/2026/02/05/03/05/10.avro"), ElementsAre(0));
}

TEST_F(CaptureTest, FilesMayBeTakenAway) {
    append({.records = 2});
    pass(kIntervalMs);
    ASSERT_TRUE(remove_recursively(*files_, "/captured/partita").has_value());
    append({.records = 2});
    start();
    pass(kIntervalMs);
    EXPECT_THAT(captured(), ElementsAre(2, 3));
}

TEST_F(CaptureTest, AFullDirectoryIsToldAndNothingIsLost) {
    append({.records = 5});
    files_->fail_call(1, ENOSPC, true, true);
    pass(kIntervalMs);
    EXPECT_THAT(captured(), IsEmpty());
    EXPECT_EQ(counts().failing_partitions, 1);
    EXPECT_GE(counts().failures, 1);
    EXPECT_EQ(counts().backlog_messages, 5);
    append({.records = 5});
    files_->heal();
    pass(Capture::kRetryMs + kIntervalMs);
    EXPECT_EQ(captured(), first(10));
    pass(1000);
    EXPECT_EQ(counts().failing_partitions, 0);
}

TEST_F(CaptureTest, WhatIsDamagedInTheLogIsLeftOutAfterThreeAttemptsAndNothingElseIs) {
    for (int batch = 0; batch < 3; ++batch) {
        append({.records = 2});
    }
    const std::string segment = log_->directory_path() + "/00000000000000000000.log";
    std::string content = world_->system.content(segment);
    content.at(content.size() / 2) ^= 1;
    world_->system.set_content(segment, content);
    pass(kIntervalMs);
    EXPECT_EQ(counts().failing_partitions, 1);
    pass(Capture::kRetryMs);
    EXPECT_THAT(names(), IsEmpty()) << "it might have been a disk that is well again";
    EXPECT_EQ(counts().failures, 2);
    pass(2 * Capture::kRetryMs);
    EXPECT_THAT(captured(), ElementsAre(0, 1, 4, 5));
    EXPECT_EQ(counts().messages, 4);
    EXPECT_EQ(counts().failing_partitions, 0);
    append({.records = 2});
    pass(2 * kIntervalMs);
    EXPECT_THAT(captured(), ElementsAre(0, 1, 4, 5, 6, 7)) << "and nothing is left out the next time";
}

TEST_F(CaptureTest, ProgressThatCannotBeReadStopsThePartitionUntilSomebodyLooks) {
    append({.records = 2});
    pass(kIntervalMs);
    std::string progress;
    for (const std::string& path : files_->files_below("/captured")) {
        if (path.ends_with(".progress")) {
            progress = path;
        }
    }
    const std::string good = files_->content(progress);
    append({.records = 2});
    for (const std::string& bad : {good.substr(0, 20), good + std::string(CaptureFiles::kProgressBytesMax, ' ')}) {
        files_->set_content(progress, bad);
        start();
        pass(2 * kIntervalMs);
        EXPECT_EQ(captured(), first(2));
        EXPECT_EQ(counts().failing_partitions, 1);
    }
    files_->set_content(progress, good);
    pass(2 * kIntervalMs);
    EXPECT_EQ(captured(), first(4));
}

TEST_F(CaptureTest, ABrokerKeepsOthersOutOfItsDirectory) {
    pass(1000);
    append({.records = 1});
    OneWorker others_executor;
    CaptureCounters others;
    Capture other(config_, topics_, *files_, others, Schedule{clock_, others_executor});
    other.start();
    (void)others_executor.step();
    EXPECT_EQ(others.failing_partitions, 1);
    EXPECT_EQ(others.failures, 1);
    pass(kIntervalMs);
    EXPECT_THAT(captured(), ElementsAre(0));
}

/// Two windows with their files, whatever happens in between, and what comes behind.
class CaptureUnderFaults : public CaptureTest {
  protected:
    void play() {
        append({.records = 3});
        pass(kIntervalMs);
        append_transaction(7, ControlRecordType::abort);
        append({.records = 4});
        pass(kIntervalMs);
    }
    const std::vector<std::int64_t> all_ = {0, 1, 2, 6, 7, 8, 9, 10};

    /// Another broker begins with the files that are left, and captures everything once.
    void expect_all_from(std::unique_ptr<test::MemoryFileSystem> left, const std::string& told) {
        capture_.reset();
        files_ = std::move(left);
        append({.records = 1});
        start();
        pass(2 * kIntervalMs + Capture::kRetryMs);
        EXPECT_EQ(captured(), all_) << told;
        EXPECT_THAT(files_->files_below("/captured/.partita-capture"), SizeIs(2)) << told << ": the lock and the progress";
    }
};

class CaptureCrash : public CaptureUnderFaults, public ::testing::WithParamInterface<std::optional<std::uint64_t>> {};

TEST_P(CaptureCrash, BeforeAnyChangeOfAFileLeavesEachRecordInOneFile) {
    int changes = 0;
    files_->before_change = [&] { ++changes; };
    play();
    const int count = changes;
    ASSERT_GT(count, 30);
    for (int crash = 1; crash <= count; ++crash) {
        begin_anew();
        std::unique_ptr<test::MemoryFileSystem> left;
        int at = 0;
        files_->before_change = [&] {
            if (++at == crash) {
                left = files_->left_by_crash(GetParam());
            }
        };
        play();
        ASSERT_NE(left, nullptr);
        expect_all_from(std::move(left), "crash before change " + std::to_string(crash));
    }
}

INSTANTIATE_TEST_SUITE_P(KillsAndPowerFailures, CaptureCrash, ::testing::Values(std::nullopt, 1, 2, 3, 4, 5));

TEST_F(CaptureUnderFaults, AnyCallMayFailAndLaterSucceed) {
    for (std::uint64_t call = 1;; ++call) {
        begin_anew();
        const std::uint64_t before = counts().messages;
        files_->fail_call(call, EIO);
        play();
        if (!files_->fault_happened()) {
            ASSERT_GT(call, 30u);
            return;
        }
        append({.records = 1});
        pass(kIntervalMs + 2 * Capture::kRetryMs);
        EXPECT_EQ(captured(), all_) << "call " << call;
        EXPECT_EQ(counts().messages - before, all_.size()) << "call " << call;
    }
}

}  // namespace
}  // namespace partita::capture
