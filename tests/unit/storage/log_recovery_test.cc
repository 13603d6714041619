#include "storage/log_recovery.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "protocol/big_endian.h"
#include "tests/support/declared_settings.h"
#include "tests/support/processor_time.h"
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
    /// Opens the log as if the process had died with `content` in it.
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
        ASSERT_EQ(world.report().cut_kind, size == 0  ? CutKind::nothing
                                           : size < 8 ? CutKind::zeros
                                                      : CutKind::torn_batch)
            << size;
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

// A record may hold whatever its producer likes. Checking a million such headers would mean checksums over terabytes.
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
    const auto before = test::processor_time_of_thread();
    reopen_with(one + tail);
    EXPECT_LT(test::processor_time_of_thread() - before, std::chrono::seconds(5));
    EXPECT_EQ(world.log().log_end_offset(), Offset{1});
    ASSERT_EQ(world.report().set_aside.size(), 1u);
    EXPECT_EQ(world.system.content("/data/t-0/" + world.report().set_aside[0]), tail);
}

TEST_F(LogRecoveryTest, SegmentsBehindABadBatchAreSetAside) {
    world.config->segment_bytes = 400;
    std::string all;
    for (int i = 0; i < 10; ++i) {
        all += append({.value_bytes = 200});
    }
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
    for (int i = 0; i < 50; ++i) {
        append({.value_bytes = 500});
    }
    world.restart_cleanly();
    EXPECT_TRUE(world.directory->open_report().was_clean);
    EXPECT_EQ(world.report().scanned_bytes, 0u);
    EXPECT_EQ(world.log().log_end_offset(), Offset{50});
    world.kill();
    EXPECT_FALSE(world.directory->open_report().was_clean);
}

TEST_F(LogRecoveryTest, OnlyWhatIsBehindTheRecoveryPointIsScanned) {
    for (int i = 0; i < 50; ++i) {
        append({.value_bytes = 500});
    }
    ASSERT_TRUE(world.log().checkpoint());
    ASSERT_TRUE(world.directory->write_checkpoints());
    const std::string last = append();
    world.kill();
    EXPECT_EQ(world.report().scanned_bytes, last.size());
    EXPECT_EQ(world.log().log_end_offset(), Offset{51});
}

/// The calls to the file system that a start after a kill needs for `batches` below the recovery point and one behind it.
std::uint64_t calls_of_recovery(int batches, ProducerId producer) {
    StorageWorld world;
    const auto append = [&](int number) {
        auto bytes = make_batch({.value_bytes = 500,
                                 .producer_id = producer,
                                 .producer_epoch = {static_cast<std::int16_t>(producer == kNoProducerId ? -1 : 0)},
                                 .base_sequence = {producer == kNoProducerId ? -1 : number}});
        EXPECT_TRUE(world.log().append(bytes, {.leader_epoch = {0}, .now = {1}}));
    };
    for (int i = 0; i < batches; ++i) {
        append(i);
    }
    EXPECT_TRUE(world.log().checkpoint());
    EXPECT_TRUE(world.directory->write_checkpoints());
    append(batches);
    world.vanish();
    world.system.crash_process();
    world.system.heal();
    world.open();
    const std::uint64_t calls = world.system.calls();
    EXPECT_EQ(world.log().log_end_offset(), Offset{batches + 1});
    const auto producers = world.log().active_producers();
    if (producer != kNoProducerId) {
        EXPECT_EQ(producers.at(0).last_sequence, Sequence{batches});
    }
    return calls;
}

// All records have the same time, so the time index has one entry, at its beginning.
TEST_F(LogRecoveryTest, WhatLiesBelowTheRecoveryPointIsNotReadHoweverMuchItIs) {
    for (const ProducerId producer : {kNoProducerId, ProducerId{7}}) {
        // An index is searched by halves.
        EXPECT_LE(calls_of_recovery(2000, producer), calls_of_recovery(20, producer) + 20);
    }
}

TEST_F(LogRecoveryTest, ProducerOfALogThatHadNoneAtItsRecoveryPointIsKnown) {
    append();
    ASSERT_TRUE(world.log().checkpoint());
    ASSERT_TRUE(world.directory->write_checkpoints());
    append({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {0}});
    ASSERT_TRUE(world.log().sync());
    append({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {1}});
    world.kill();
    EXPECT_EQ(world.log().active_producers().at(0).last_sequence, Sequence{1});
}

TEST_F(LogRecoveryTest, CheckpointKnowsNothingOfWhatIsOnlyStaged) {
    append({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {0}});
    auto next = make_batch({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {1}});
    auto after = make_batch({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {2}});
    auto other = make_batch({.producer_id = {5}, .producer_epoch = {0}, .base_sequence = {0}});
    for (auto* batch : {&next, &after, &other}) {
        ASSERT_TRUE(world.log().stage(*batch, {.leader_epoch = {0}, .now = {1}}));
    }
    ASSERT_TRUE(world.log().checkpoint());
    EXPECT_FALSE(world.log().needs_checkpoint());
    ASSERT_TRUE(world.directory->write_checkpoints());
    world.kill();
    const auto producers = world.log().active_producers();
    ASSERT_EQ(producers.size(), 1u);
    EXPECT_EQ(producers[0].producer_id, ProducerId{7});
    EXPECT_EQ(producers[0].last_sequence, Sequence{0});
    auto again = make_batch({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {1}});
    const auto done = world.log().append(again, {.leader_epoch = {0}, .now = {1}});
    ASSERT_TRUE(done);
    EXPECT_FALSE(done->duplicate);
}

TEST_F(LogRecoveryTest, SnapshotOfTheRecoveryPointOutlivesManyRolls) {
    world.config->segment_bytes = 400;
    for (int i = 0; i < 3; ++i) {
        append({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {i}});
    }
    ASSERT_TRUE(world.log().checkpoint());
    ASSERT_TRUE(world.directory->write_checkpoints());
    for (int i = 3; i < 40; ++i) {
        append({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {i}});
    }
    EXPECT_FALSE(world.system.content("/data/t-0/00000000000000000003.snapshot").empty());
    ASSERT_TRUE(world.log().checkpoint());
    ASSERT_TRUE(world.directory->write_checkpoints());
    for (int i = 40; i < 60; ++i) {
        append({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {i}});
    }
    EXPECT_FALSE(world.system.content("/data/t-0/00000000000000000040.snapshot").empty());
    world.kill();
    EXPECT_EQ(world.log().active_producers().at(0).last_sequence, Sequence{59});
}

TEST_F(LogRecoveryTest, RecoveryPointBehindWhatIsLeftIsNotBelievedAgain) {
    std::string first;
    for (int i = 0; i < 10; ++i) {
        const std::string bytes = append({.value_bytes = 500});
        if (i < 3) {
            first += bytes;
        }
    }
    ASSERT_TRUE(world.log().checkpoint());
    ASSERT_TRUE(world.directory->write_checkpoints());
    reopen_with(first);
    ASSERT_EQ(world.log().log_end_offset(), Offset{3});
    // They take offsets below the earlier recovery point, which vouches neither for their bytes nor for their producer.
    std::string last;
    for (int i = 0; i < 3; ++i) {
        last = append({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {i}});
    }
    std::string content = world.system.content(kLog);
    content.back() ^= 1;
    reopen_with(content);
    EXPECT_EQ(world.log().log_end_offset(), Offset{5});
    EXPECT_EQ(world.report().cut_bytes, last.size());
    EXPECT_EQ(world.log().active_producers().at(0).last_sequence, Sequence{1});
}

// The reader of an index that the log outlived: an abort that was lost, then one of another history at a lower offset.
TEST_F(LogRecoveryTest, AbortThatWasLostHidesNoOther) {
    const auto transaction = [&](int sequence) {
        append({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {sequence}, .transactional = true});
    };
    const auto abort = [&] {
        std::vector<std::byte> marker;
        build_end_transaction_marker({ControlRecordType::abort, 0}, {0}, {0}, {7}, {0}, {1000}, marker);
        ASSERT_TRUE(world.log().append(marker, {.leader_epoch = {0}, .now = {1}}));
    };
    const std::string first = append();
    for (int i = 0; i < 3; ++i) {
        append();
    }
    transaction(0);
    abort();
    ASSERT_TRUE(world.log().sync());  // Writes the abort at offset 5 down.
    reopen_with(first);
    ASSERT_EQ(world.log().log_end_offset(), Offset{1});
    transaction(0);
    abort();
    for (int start = 0; start < 2; ++start) {
        const auto aborted = world.log().aborted_transactions({0}, {100}).value();
        ASSERT_EQ(aborted.size(), 1u) << "start " << start;
        EXPECT_EQ(aborted[0].first_offset, Offset{1});
        world.restart_cleanly();
    }
}

TEST_F(LogRecoveryTest, LessThanTheRecoveryPointVouchedForIsReadAsIfNothingDid) {
    std::string kept;
    for (int i = 0; i < 6; ++i) {
        const std::string bytes = append({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {i}});
        if (i < 4) {
            kept += bytes;
        }
        // There are snapshots at 2 and 5; the second one describes records that will be gone.
        if (i == 1 || i == 4) {
            ASSERT_TRUE(world.log().checkpoint());
        }
    }
    ASSERT_TRUE(world.log().checkpoint());
    ASSERT_TRUE(world.directory->write_checkpoints());
    reopen_with(kept);
    EXPECT_EQ(world.report().scanned_bytes, kept.size());
    EXPECT_TRUE(world.report().recovery_point_is_void);
    ASSERT_EQ(world.log().active_producers().size(), 1u);
    EXPECT_EQ(world.log().active_producers()[0].last_sequence, Sequence{3});
}

TEST_F(LogRecoveryTest, ProducersOfAKafkaThatWasKilledAreLookedFor) {
    for (int i = 0; i < 3; ++i) {
        append({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {i}});
    }
    ASSERT_TRUE(world.log().checkpoint());
    ASSERT_TRUE(world.directory->write_checkpoints());
    world.vanish();
    world.system.crash_process();
    ASSERT_TRUE(world.system.remove("/data/partita.properties"));
    ASSERT_TRUE(world.system.remove("/data/t-0/00000000000000000003.snapshot"));
    world.open();
    ASSERT_EQ(world.log().active_producers().size(), 1u);
    EXPECT_EQ(world.log().active_producers()[0].last_sequence, Sequence{2});
}

TEST_F(LogRecoveryTest, WhatACheckpointSavesIsCounted) {
    EXPECT_EQ(world.directory->bytes_since_checkpoint(), 0u);
    std::size_t bytes = append().size() + append({.value_bytes = 700}).size();
    EXPECT_EQ(world.directory->bytes_since_checkpoint(), bytes);
    ASSERT_TRUE(world.log().sync());
    EXPECT_EQ(world.directory->bytes_since_checkpoint(), bytes);
    world.kill();
    EXPECT_EQ(world.report().scanned_bytes, bytes);
    world.log();
    EXPECT_EQ(world.directory->bytes_since_checkpoint(), bytes);
    ASSERT_TRUE(world.log().checkpoint());
    EXPECT_EQ(world.directory->bytes_since_checkpoint(), 0u);
}

TEST_F(LogRecoveryTest, DamagedIndexesNeverChangeWhatIsServed) {
    world.config->index_interval_bytes = 100;
    world.config->segment_bytes = 4000;
    std::string all;
    for (int i = 0; i < 60; ++i) {
        all += append({.value_bytes = 200, .timestamp = {1000 + i}});
    }
    std::mt19937_64 random(7);
    for (int round = 0; round < 300; ++round) {
        if (auto closed = world.directory->close(); !closed) {
            FAIL() << closed.error().message;
        }
        std::vector<std::string> indexes;
        for (const std::string& file : world.system.files_below("/data/t-0")) {
            if (file.ends_with("index")) {
                indexes.push_back(file);
            }
        }
        ASSERT_FALSE(indexes.empty());
        const std::string& victim = indexes[random() % indexes.size()];
        std::string content = world.system.content(victim);
        switch (random() % 3) {
            case 0:
                content.resize(random() % (content.size() + 1));
                break;
            case 1:
                content += std::string(random() % 100, '\0');
                break;
            default:
                if (!content.empty()) {
                    content[random() % content.size()] ^= static_cast<char>(1 << (random() % 8));
                }
        }
        world.vanish();
        world.system.crash_process();
        world.system.set_content(victim, content);
        if (random() % 2 == 0) {
            world.system.remove("/data/.kafka_cleanshutdown").value();
        }
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
    for (int i = 0; i < 3; ++i) {
        append({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {i}});
    }
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
    auto second =
        LogDirectory::open(world.system, files, "/data", {.default_config = std::shared_ptr<const LogConfig>(world.config)});
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
