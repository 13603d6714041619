#include "storage/log_recovery.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "protocol/big_endian.h"
#include "tests/support/storage_fixture.h"

namespace partita::test {
namespace {

const std::string kLog = "/data/t-0/00000000000000000000.log";

class LogRecoveryTest : public ::testing::Test {
  protected:
    std::string append(const TestBatch& batch = {}) {
        auto bytes = make_batch(batch);
        EXPECT_TRUE(world.log().append(bytes, {.leader_epoch = {0}, .now = {1}}));
        return std::string(as_text(Bytes(bytes)));
    }
    /// As if the process had died, with `content` in the log.
    void reopen_with(const std::string& content) {
        world.vanish();
        world.system.crash_process();
        world.system.set_content(kLog, content);
        world.open();
    }
    StorageWorld world;
};

TEST_F(LogRecoveryTest, TornTailIsCutAtEveryByteOfTheLastBatch) {
    const std::string first = append({.records = 2});
    const std::string last = append({.records = 2});
    for (std::size_t size = 0; size < last.size(); ++size) {
        reopen_with(first + last.substr(0, size));
        ASSERT_EQ(world.log().log_end_offset(), Offset{2}) << size;
        ASSERT_EQ(world.system.content(kLog), first) << size;
        ASSERT_EQ(world.report().cut_bytes, size);
        // Its first bytes are zeros: the high bytes of the offset.
        ASSERT_EQ(world.report().cut_kind,
                  size == 0 ? CutKind::nothing : size < 8 ? CutKind::zeros : CutKind::torn_batch) << size;
        ASSERT_TRUE(world.report().set_aside.empty());
    }
    reopen_with(first + last);
    EXPECT_EQ(world.log().log_end_offset(), Offset{4});
    EXPECT_EQ(world.report().cut_bytes, 0u);
}

TEST_F(LogRecoveryTest, ZerosBehindTheEndAreCut) {
    const std::string first = append();
    reopen_with(first + std::string(5000, '\0'));
    EXPECT_EQ(world.log().log_end_offset(), Offset{1});
    EXPECT_EQ(world.report().cut_kind, CutKind::zeros);
    EXPECT_TRUE(world.report().set_aside.empty());
}

TEST_F(LogRecoveryTest, GoodBatchesBehindABadOneAreSetAside) {
    const std::string one = append();
    std::string two = append();
    const std::string three = append();
    two[two.size() - 5] ^= 1;
    reopen_with(one + two + three);
    EXPECT_EQ(world.log().log_end_offset(), Offset{1});
    EXPECT_EQ(read_all(world.log(), {0}), one);
    ASSERT_EQ(world.report().set_aside.size(), 1u);
    EXPECT_EQ(world.system.content("/data/t-0/" + world.report().set_aside[0]), two + three);
    EXPECT_EQ(world.report().cut_position, one.size());
    EXPECT_EQ(world.report().cut_kind, CutKind::damage);
}

// The CRC does not cover the base offset, and an index cannot hold one that lies beyond its segment.
TEST_F(LogRecoveryTest, BatchWithAnOffsetThatItsSegmentCannotHoldIsSetAside) {
    const std::string one = append({.value_bytes = 5000});
    for (const std::size_t damaged_byte : {0u, 3u}) {
        std::string two = append({.value_bytes = 5000});
        const std::string three = append();
        two[damaged_byte] ^= 0x40;
        reopen_with(one + two + three);
        EXPECT_EQ(world.log().log_end_offset(), Offset{1}) << damaged_byte;
        EXPECT_EQ(read_all(world.log(), {0}), one) << damaged_byte;
        ASSERT_EQ(world.report().set_aside.size(), 1u) << damaged_byte;
        EXPECT_EQ(world.system.content("/data/t-0/" + world.report().set_aside[0]), two + three) << damaged_byte;
        EXPECT_TRUE(world.system.remove("/data/t-0/" + world.report().set_aside[0]));
    }
}

TEST_F(LogRecoveryTest, DamagedLengthDoesNotHideGoodBatches) {
    const std::string one = append();
    std::string two = append();
    const std::string three = append();
    two[8] = 0x7f;  // The batch claims two gigabytes: it looks like a torn tail.
    reopen_with(one + two + three);
    ASSERT_EQ(world.report().set_aside.size(), 1u);
    EXPECT_EQ(world.system.content("/data/t-0/" + world.report().set_aside[0]), two + three);
}

// A record may hold whatever its producer likes. Checking a million such headers would take the CRC of terabytes.
TEST_F(LogRecoveryTest, TailFullOfHeadersOfBatchesIsSetAsideAndNotCheckedForEver) {
    const std::string one = append();
    const std::size_t header_bytes = kBatchHeaderBytes;
    const std::size_t count = 100'000;
    std::string tail = one;
    tail[tail.size() - 1] ^= 1;
    const std::size_t begin = tail.size();
    for (std::size_t i = 0; i < count; ++i) {
        std::string header = one.substr(0, header_bytes);
        store_big_endian(reinterpret_cast<std::byte*>(header.data()), std::int64_t{5});
        store_big_endian(reinterpret_cast<std::byte*>(header.data()) + 8,
                         static_cast<std::int32_t>((count - i) * header_bytes - kBatchPrefixBytes));
        tail += header;
    }
    ASSERT_EQ(tail.size(), begin + count * header_bytes);
    const auto before = std::chrono::steady_clock::now();
    reopen_with(one + tail);
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
    EXPECT_EQ(world.log().log_end_offset(), Offset{1});
    ASSERT_EQ(world.report().set_aside.size(), 1u);
    EXPECT_EQ(world.system.content("/data/t-0/" + world.report().set_aside[0]), tail);
}

TEST_F(LogRecoveryTest, SegmentsBehindABadBatchAreSetAside) {
    world.config->segment_bytes = 400;
    std::string all;
    for (int i = 0; i < 10; ++i) all += append({.value_bytes = 200});
    const std::size_t segments = world.log().segments().size();
    std::string damaged = world.system.content(kLog);
    damaged[damaged.size() - 5] ^= 1;
    reopen_with(damaged);
    EXPECT_EQ(world.log().log_end_offset(), Offset{0});
    EXPECT_EQ(world.report().set_aside.size(), segments);
    const std::string next = append();
    EXPECT_TRUE(next == read_all(world.log(), {0}));
    world.kill();
    EXPECT_EQ(world.log().log_end_offset(), Offset{1});
}

TEST_F(LogRecoveryTest, CleanStopIsTrustedAndNothingIsScanned) {
    for (int i = 0; i < 50; ++i) append({.value_bytes = 500});
    world.restart_cleanly();
    EXPECT_TRUE(world.directory->open_report().was_clean);
    EXPECT_EQ(world.report().scanned_bytes, 0u);
    EXPECT_EQ(world.log().log_end_offset(), Offset{50});
    world.kill();
    EXPECT_FALSE(world.directory->open_report().was_clean);
}

TEST_F(LogRecoveryTest, OnlyWhatIsBehindTheRecoveryPointIsScanned) {
    for (int i = 0; i < 50; ++i) append({.value_bytes = 500});
    ASSERT_TRUE(world.log().checkpoint());
    ASSERT_TRUE(world.directory->write_checkpoints());
    const std::string last = append();
    world.kill();
    EXPECT_EQ(world.report().scanned_bytes, last.size());
    EXPECT_EQ(world.log().log_end_offset(), Offset{51});
}

TEST_F(LogRecoveryTest, DamagedIndexesNeverChangeWhatIsServed) {
    world.config->index_interval_bytes = 100;
    world.config->segment_bytes = 4000;
    std::string all;
    for (int i = 0; i < 60; ++i) all += append({.value_bytes = 200, .timestamp = {1000 + i}});
    std::mt19937_64 random(7);
    for (int round = 0; round < 300; ++round) {
        if (auto closed = world.directory->close(); !closed) FAIL() << closed.error().message;
        std::vector<std::string> indexes;
        for (const std::string& file : world.system.files_below("/data/t-0")) {
            if (file.ends_with("index")) indexes.push_back(file);
        }
        ASSERT_FALSE(indexes.empty());
        const std::string& victim = indexes[random() % indexes.size()];
        std::string content = world.system.content(victim);
        switch (random() % 3) {
            case 0: content.resize(random() % (content.size() + 1)); break;
            case 1: content += std::string(random() % 100, '\0'); break;
            default:
                if (!content.empty()) content[random() % content.size()] ^= static_cast<char>(1 << (random() % 8));
        }
        world.vanish();
        world.system.crash_process();
        world.system.set_content(victim, content);
        if (random() % 2 == 0) world.system.remove("/data/.kafka_cleanshutdown").value();
        world.open();
        for (int offset = 0; offset < 60; ++offset) {
            auto slice = world.log().read({offset}, {.upper_bound = {60}, .minimum_one_batch = true});
            ASSERT_TRUE(slice) << round << " " << victim << " " << slice.error().message;
            ASSERT_EQ(slice->base_offset, Offset{offset}) << round << " " << victim;
        }
        ASSERT_TRUE(read_all(world.log(), {0}) == all);
    }
}

TEST_F(LogRecoveryTest, DamagedSnapshotIsIgnored) {
    for (int i = 0; i < 3; ++i) append({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {i}});
    ASSERT_TRUE(world.directory->close());
    std::string content = world.system.content("/data/t-0/00000000000000000003.snapshot");
    ASSERT_FALSE(content.empty());
    content[20] ^= 1;
    world.vanish();
    world.system.crash_process();
    world.system.set_content("/data/t-0/00000000000000000003.snapshot", content);
    world.open();
    ASSERT_EQ(world.log().active_producers().size(), 1u);
    EXPECT_EQ(world.log().active_producers()[0].last_sequence, Sequence{2});
}

TEST_F(LogRecoveryTest, MissingEpochFileIsRebuiltFromTheBatches) {
    append();
    ASSERT_TRUE(world.directory->close());
    world.vanish();
    world.system.crash_process();
    ASSERT_TRUE(world.system.remove("/data/t-0/leader-epoch-checkpoint"));
    world.open();
    EXPECT_EQ(world.log().leader_epochs(), (std::vector<EpochStart>{{{0}, {0}}}));
}

TEST_F(LogRecoveryTest, SecondProcessIsToldWhoHoldsTheDirectory) {
    OpenFiles files(world.system, 4);
    auto second = LogDirectory::open(world.system, files, "/data", {});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, StorageError::Kind::locked);
    EXPECT_NE(second.error().message.find("process "), std::string::npos) << second.error().message;
}

TEST_F(LogRecoveryTest, NewerFormatIsRefused) {
    world.vanish();
    world.system.crash_process();
    world.system.set_content("/data/partita.properties", "format.version=2\n");
    world.files = std::make_unique<OpenFiles>(world.system, 4);
    auto opened = world.try_open();
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().kind, StorageError::Kind::newer_format);
}

TEST_F(LogRecoveryTest, DirectoryOfADeletedTopicIsNotTakenForTheNewOne) {
    append({.records = 5});
    world.vanish();
    world.system.crash_process();
    world.topic = std::make_shared<LogTopic>(LogTopic{"t", {{99}}});
    world.open();
    EXPECT_EQ(world.log().log_end_offset(), Offset{0});
    append();
    ASSERT_TRUE(world.directory->purge_removed());
    EXPECT_EQ(world.log().log_end_offset(), Offset{1});
}

}  // namespace
}  // namespace partita::test
