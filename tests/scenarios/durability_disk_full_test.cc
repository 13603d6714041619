// Tests a full disk: writes fail with errors that clients retry, everything else goes on, and the broker recovers without a
// restart.

#include <gmock/gmock.h>
#include <sys/mount.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/support/broker_process.h"
#include "tests/support/plain_client.h"

namespace partita::test {
namespace {

using ::testing::AnyOf;

/// A file system of 8 MiB in memory, with a file that can fill it.
class SmallDisk {
  public:
    explicit SmallDisk(const std::string& path) : path_(path) {
        std::filesystem::create_directories(path);
        mounted_ = ::mount("tmpfs", path.c_str(), "tmpfs", 0, "size=8m") == 0;
        error_ = errno;
    }
    ~SmallDisk() {
        if (mounted_) {
            ::umount2(path_.c_str(), MNT_DETACH);
        }
    }
    [[nodiscard]] bool is_mounted() const { return mounted_; }
    [[nodiscard]] std::string why_not() const { return std::strerror(error_); }
    [[nodiscard]] std::string data() const { return path_ + "/data"; }
    /// Takes everything that is left.
    void fill() const {
        std::ofstream file(path_ + "/ballast", std::ios::binary | std::ios::app);
        const std::string page(4096, 'b');
        while (file.write(page.data(), static_cast<std::streamsize>(page.size())).flush()) {
        }
    }
    void free() const { std::filesystem::remove(path_ + "/ballast"); }

  private:
    std::string path_;
    bool mounted_ = false;
    int error_ = 0;
};

class DurabilityDiskFull : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!disk_.is_mounted()) {
            GTEST_SKIP() << "needs the right to mount a tmpfs: " << disk_.why_not();
        }
        options_.data_directory = disk_.data();
        options_.overrides = {"offsets.topic.num.partitions=2", "log.flush.offset.checkpoint.interval.ms=100"};
        broker_ = BrokerProcess::start(options_);
        ASSERT_NE(broker_, nullptr);
    }
    void TearDown() override { broker_.reset(); }
    /// Produces until the broker refuses; notes how often it acknowledged.
    ErrorCode produce_until_refused(PlainClient& client, int limit) {
        const std::string value(2000, 'v');
        for (int i = 0; i < limit; ++i) {
            const Produced produced = client.produce_value("t", 0, value);
            if (produced.error != ErrorCode::none) {
                return produced.error;
            }
            EXPECT_EQ(produced.base_offset, acknowledged_);
            ++acknowledged_;
        }
        return ErrorCode::none;
    }
    void expect_all_readable(PlainClient& client) {
        const auto records = client.read_all("t", 0);
        ASSERT_TRUE(records);
        EXPECT_EQ(static_cast<std::int64_t>(records->size()), acknowledged_);
    }
    /// Reads go on: the client looks for its coordinator again and repeats itself.
    void expect_committed(PlainClient& client) {
        std::optional<std::int64_t> offset;
        EXPECT_TRUE(eventually([&] { return (offset = client.committed("g", "t", 0)).has_value(); }));
        EXPECT_EQ(offset, committed_);
    }
    ErrorCode commit_until_refused(PlainClient& client, int limit) {
        for (int i = 0; i < limit; ++i) {
            const ErrorCode error = client.commit("g", "t", 0, committed_ + 1);
            if (error != ErrorCode::none) {
                return error;
            }
            ++committed_;
        }
        return ErrorCode::none;
    }

    TemporaryDirectory directory_;
    SmallDisk disk_{directory_ / "disk"};
    BrokerProcess::Options options_;
    std::unique_ptr<BrokerProcess> broker_;
    std::int64_t acknowledged_ = 0;
    std::int64_t committed_ = 0;
};

TEST_F(DurabilityDiskFull, WritesFailReadsGoOnAndItHealsWithoutARestart) {
    PlainClient client(broker_->port());
    ASSERT_EQ(client.create_topic("t", 1).error, ErrorCode::none);
    ASSERT_EQ(produce_until_refused(client, 20), ErrorCode::none);
    ASSERT_EQ(commit_until_refused(client, 20), ErrorCode::none);

    disk_.fill();
    EXPECT_EQ(produce_until_refused(client, 5000), ErrorCode::kafka_storage_error);
    // Every client retries these errors, and they are true.
    EXPECT_THAT(commit_until_refused(client, 5000), AnyOf(ErrorCode::not_coordinator, ErrorCode::coordinator_not_available));
    expect_committed(client);
    expect_all_readable(client);
    ASSERT_TRUE(client.metadata());
    EXPECT_EQ(client.metadata()->at("t").partitions, 1u);
    // The catalog's log may have room left in its last page.
    ErrorCode creation = ErrorCode::none;
    int created = 0;
    while (created < 500 && (creation = client.create_topic("more-" + std::to_string(created), 1).error) == ErrorCode::none) {
        ++created;
    }
    EXPECT_EQ(creation, ErrorCode::kafka_storage_error);
    EXPECT_FALSE(client.metadata()->contains("more-" + std::to_string(created)));
    EXPECT_EQ(client.expand_topic("t", 2), ErrorCode::kafka_storage_error);
    EXPECT_EQ(client.metadata()->at("t").partitions, 1u);
    // This happens again and again, with folds and checkpoints that fail too.
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(produce_until_refused(client, 5000), ErrorCode::kafka_storage_error);
        EXPECT_NE(commit_until_refused(client, 5000), ErrorCode::none);
    }
    EXPECT_TRUE(broker_->is_running());

    disk_.free();
    EXPECT_EQ(produce_until_refused(client, 20), ErrorCode::none);
    // The coordinator whose write failed last may still be reading its log again.
    expect_committed(client);
    EXPECT_EQ(commit_until_refused(client, 20), ErrorCode::none);
    EXPECT_EQ(client.create_topic("afterwards", 1).error, ErrorCode::none);
    EXPECT_EQ(client.expand_topic("afterwards", 2), ErrorCode::none);
    expect_all_readable(client);
    expect_committed(client);

    broker_->send_signal(SIGKILL);
    (void)broker_->wait();
    broker_.reset();
    broker_ = BrokerProcess::start(options_);
    ASSERT_NE(broker_, nullptr);
    PlainClient again(broker_->port());
    expect_all_readable(again);
    EXPECT_EQ(again.committed("g", "t", 0), committed_);
    EXPECT_TRUE(again.metadata()->contains("afterwards"));
}

TEST_F(DurabilityDiskFull, DeletingATopicFreesAFullDisk) {
    PlainClient client(broker_->port());
    ASSERT_EQ(client.create_topic("t", 1).error, ErrorCode::none);
    EXPECT_EQ(produce_until_refused(client, 10000), ErrorCode::kafka_storage_error);
    const ErrorCode deleted = client.delete_topic("t");
    if (deleted == ErrorCode::kafka_storage_error) {
        // The deletion itself is a record and found no room: an administrator must make some by hand.
        GTEST_SKIP() << "the catalog's log had no room for the deletion";
    }
    ASSERT_EQ(deleted, ErrorCode::none);
    acknowledged_ = 0;
    EXPECT_TRUE(eventually([&] { return disk_usage(disk_.data()) < 1 << 20; }));
    ASSERT_EQ(client.create_topic("t", 1).error, ErrorCode::none);
    EXPECT_EQ(produce_until_refused(client, 100), ErrorCode::none);
}

// LMDB makes files longer without space on the device, maps them, and writes to them.
TEST_F(DurabilityDiskFull, TheMetadataStoreIsMadeWhenThereIsRoomForItAndNobodyDiesBefore) {
    PlainClient client(broker_->port());
    ASSERT_EQ(client.create_topic("t", 1).error, ErrorCode::none);
    ASSERT_EQ(commit_until_refused(client, 20), ErrorCode::none);
    disk_.fill();
    if (std::filesystem::exists(disk_.data() + "/partita-metadata/data.mdb")) {
        GTEST_SKIP() << "in the seconds that the broker gives itself for it this process had no processor";
    }
    EXPECT_TRUE(broker_->wait_for_output("could not write the checkpoint of the internal logs"));
    EXPECT_TRUE(client.metadata()) << "others are served on";
    disk_.free();
    EXPECT_TRUE(eventually([&] { return std::filesystem::exists(disk_.data() + "/partita-metadata/data.mdb"); }));
    EXPECT_EQ(broker_->stop().exit_code, 0);
    // The broker opens an existing store on a full disk, too.
    disk_.fill();
    broker_ = BrokerProcess::start(options_);
    ASSERT_NE(broker_, nullptr);
    PlainClient again(broker_->port());
    EXPECT_EQ(again.committed("g", "t", 0), committed_);
    disk_.free();
}

TEST_F(DurabilityDiskFull, StartsAndServesReadsOnAFullDiskAfterAKill) {
    {
        PlainClient client(broker_->port());
        ASSERT_EQ(client.create_topic("t", 1).error, ErrorCode::none);
        ASSERT_EQ(produce_until_refused(client, 50), ErrorCode::none);
        ASSERT_EQ(commit_until_refused(client, 20), ErrorCode::none);
        disk_.fill();
        EXPECT_EQ(produce_until_refused(client, 5000), ErrorCode::kafka_storage_error);
    }
    broker_->send_signal(SIGKILL);
    (void)broker_->wait();
    broker_.reset();
    broker_ = BrokerProcess::start(options_);
    ASSERT_NE(broker_, nullptr);
    PlainClient client(broker_->port());
    expect_all_readable(client);
    EXPECT_EQ(client.committed("g", "t", 0), committed_);
    disk_.free();
    EXPECT_EQ(produce_until_refused(client, 50), ErrorCode::none);
    // A stop on a full disk reports it, and the next start has everything.
    disk_.fill();
    EXPECT_NE(broker_->stop().exit_code, 0);
    disk_.free();
    broker_ = BrokerProcess::start(options_);
    ASSERT_NE(broker_, nullptr);
    PlainClient again(broker_->port());
    expect_all_readable(again);
    EXPECT_EQ(again.committed("g", "t", 0), committed_);
}

}  // namespace
}  // namespace partita::test
