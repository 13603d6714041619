#include "storage/log_sync.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <functional>
#include <future>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "storage/log_flusher.h"
#include "storage/partition_log_state.h"
#include "tests/support/storage_fixture.h"

namespace partita {
namespace {

using test::make_batch;
using test::StorageWorld;

constexpr int kMany = static_cast<int>(kFewestSyncedTogether) + 6;

class LogSyncTest : public ::testing::Test {
  protected:
    void append_to(int partitions, std::uint64_t content = 0) {
        for (int i = 0; i < partitions; ++i) {
            auto batch = make_batch({.value_bytes = 100, .content = content});
            ASSERT_TRUE(world_.log(i).append(batch, {.leader_epoch = {0}, .now = {1000}}));
        }
    }
    std::vector<std::shared_ptr<PartitionLog>> logs() { return world_.directory->logs_with_files(); }
    StorageResult<void> sync_all(LogSync::Purpose purpose = LogSync::Purpose::sync) {
        return sync_logs(world_.directory->volume(), logs(), purpose);
    }
    std::set<std::string> names_in(const std::string& directory) {
        std::set<std::string> names;
        const auto entries = world_.system.list(directory);
        if (!entries) {
            return {entries.error().message};
        }
        for (const DirectoryEntry& entry : *entries) {
            names.insert(entry.name);
        }
        return names;
    }
    void expect_ends(int partitions, Offset end) {
        for (int i = 0; i < partitions; ++i) {
            EXPECT_EQ(world_.log(i).log_end_offset(), end) << "partition " << i;
        }
    }

    StorageWorld world_;
};

TEST_F(LogSyncTest, ManyLogsShareOneSyncOfTheVolume) {
    append_to(kMany);
    const std::uint64_t singles = world_.system.single_syncs();
    ASSERT_TRUE(sync_all());
    EXPECT_EQ(world_.system.volume_syncs(), 1u);
    EXPECT_EQ(world_.system.single_syncs(), singles);
    EXPECT_THAT(world_.directory->logs_to_sync(), ::testing::IsEmpty());
    world_.lose_power(7);
    expect_ends(kMany, Offset{1});
}

TEST_F(LogSyncTest, TheirCheckpointsShareTwo) {
    append_to(kMany);
    const std::uint64_t singles = world_.system.single_syncs();
    ASSERT_TRUE(sync_all(LogSync::Purpose::checkpoint));
    EXPECT_EQ(world_.system.volume_syncs(), 2u) << "one for the content, one for the names of the epoch files";
    EXPECT_EQ(world_.system.single_syncs(), singles);
    EXPECT_THAT(world_.directory->logs_to_checkpoint(), ::testing::IsEmpty());
    world_.lose_power(7);
    expect_ends(kMany, Offset{1});
}

TEST_F(LogSyncTest, OnlyACheckpointMakesTheFilesThatAStartTrusts) {
    world_.config->index_interval_bytes = 1;
    append_to(kMany);
    append_to(kMany);
    ASSERT_TRUE(sync_all());
    const std::set<std::string> synced{"00000000000000000000.log", "partition.metadata"};
    EXPECT_EQ(names_in("/data/t-0"), synced);
    ASSERT_TRUE(sync_all(LogSync::Purpose::checkpoint));
    const std::set<std::string> checkpointed{"00000000000000000000.index", "00000000000000000000.log",
                                             "00000000000000000000.timeindex", "leader-epoch-checkpoint", "partition.metadata"};
    EXPECT_EQ(names_in("/data/t-0"), checkpointed);
}

TEST_F(LogSyncTest, TheNamesOfIndexFilesThatACheckpointMakesAreSynced) {
    world_.config->index_interval_bytes = 1;
    // The log's epochs are written, and the names of all files so far are durable.
    append_to(1);
    ASSERT_TRUE(world_.log().checkpoint());
    append_to(1);
    append_to(1);
    ASSERT_TRUE(world_.log().checkpoint());
    ASSERT_TRUE(world_.directory->write_checkpoints());
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        world_.lose_power(seed);
        ASSERT_TRUE(names_in("/data/t-0").contains("00000000000000000000.index")) << seed;
        ASSERT_EQ(world_.report().scanned_bytes, 0u) << seed;
    }
}

TEST_F(LogSyncTest, IndexEntriesAreWrittenBeforeTheNextCheckpointWhenTheyFillAPage) {
    world_.config->index_interval_bytes = 1;
    const auto index_bytes = [this] { return world_.system.content("/data/t-0/00000000000000000000.index").size(); };
    // The first batch of a segment has no entry.
    for (std::size_t i = 0; i < kIndexEntriesWorthAWrite; ++i) {
        append_to(1);
    }
    ASSERT_TRUE(sync_all());
    EXPECT_EQ(index_bytes(), 0u);
    append_to(1);
    ASSERT_TRUE(sync_all());
    EXPECT_EQ(index_bytes(), 4096u);
}

TEST_F(LogSyncTest, AnEpochThatBeganAfterTheCheckpointIsFoundAgain) {
    append_to(1);
    ASSERT_TRUE(sync_all(LogSync::Purpose::checkpoint));
    ASSERT_TRUE(world_.directory->write_checkpoints());
    auto batch = make_batch();
    ASSERT_TRUE(world_.log().append(batch, {.leader_epoch = {5}, .now = {1000}}));
    ASSERT_TRUE(sync_all());
    EXPECT_EQ(world_.system.content("/data/t-0/leader-epoch-checkpoint").find("5 1"), std::string::npos);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        world_.lose_power(seed);
        ASSERT_EQ(world_.log().leader_epochs(), (std::vector<EpochStart>{{{0}, {0}}, {{5}, {1}}})) << seed;
    }
    ASSERT_TRUE(sync_all(LogSync::Purpose::checkpoint));
    EXPECT_NE(world_.system.content("/data/t-0/leader-epoch-checkpoint").find("5 1"), std::string::npos);
}

TEST_F(LogSyncTest, LogsWithoutNewsCostNoSync) {
    append_to(kMany);
    ASSERT_TRUE(sync_all());
    ASSERT_TRUE(sync_all());
    EXPECT_EQ(world_.system.volume_syncs(), 1u);
    ASSERT_TRUE(sync_all(LogSync::Purpose::checkpoint));
    EXPECT_EQ(world_.system.volume_syncs(), 3u);
    append_to(kMany, 1);
    ASSERT_TRUE(sync_all(LogSync::Purpose::checkpoint));
    EXPECT_EQ(world_.system.volume_syncs(), 4u) << "no epoch began";
}

TEST_F(LogSyncTest, FewLogsAreSyncedOneByOne) {
    append_to(static_cast<int>(kFewestSyncedTogether) - 1);
    ASSERT_TRUE(sync_all());
    EXPECT_EQ(world_.system.volume_syncs(), 0u);
    world_.lose_power(7);
    expect_ends(static_cast<int>(kFewestSyncedTogether) - 1, Offset{1});
}

TEST_F(LogSyncTest, VolumeThatPromisesNothingLeavesEveryLogToItself) {
    world_.system.volume_vouches = false;
    append_to(kMany);
    const std::uint64_t singles = world_.system.single_syncs();
    ASSERT_TRUE(sync_all());
    // For each log: the log, its topic's id and its directory. Then the directory of all of them, which is new, and its own name
    // once.
    EXPECT_EQ(world_.system.single_syncs() - singles, 3u * kMany + 2);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        world_.lose_power(seed);
        expect_ends(kMany, Offset{1});
    }
}

TEST_F(LogSyncTest, ManyLogsAreClosedTogetherAndBelievedAfterwards) {
    append_to(kMany);
    ASSERT_TRUE(world_.directory->close());
    EXPECT_EQ(world_.system.volume_syncs(), 2u);
    world_.lose_power(3);
    EXPECT_TRUE(world_.directory->open_report().was_clean);
    for (const RecoveryReport& report : world_.directory->open_report().partitions) {
        EXPECT_EQ(report.scanned_bytes, 0u);
    }
    expect_ends(kMany, Offset{1});
}

TEST_F(LogSyncTest, CloseOfLogsThatNobodyWroteToWaitsForNoDevice) {
    append_to(kMany);
    world_.restart_cleanly();
    const std::uint64_t before = world_.system.single_syncs();
    const std::uint64_t volumes = world_.system.volume_syncs();
    ASSERT_TRUE(world_.directory->close());
    EXPECT_EQ(world_.system.volume_syncs(), volumes);
    EXPECT_LE(world_.system.single_syncs() - before, 6u) << "two checkpoint files and the mark";
}

TEST_F(LogSyncTest, IndexesThatAKilledProcessWroteAreSyncedByTheNextOne) {
    world_.config->index_interval_bytes = 0;
    for (std::uint64_t i = 0; i < 5; ++i) {
        append_to(kMany, i);
    }
    ASSERT_TRUE(sync_all());
    world_.kill();
    expect_ends(kMany, Offset{5});
    ASSERT_TRUE(world_.directory->close());
    world_.lose_power(11);
    EXPECT_TRUE(world_.directory->open_report().was_clean);
    for (const RecoveryReport& report : world_.directory->open_report().partitions) {
        EXPECT_EQ(report.rebuilt_indexes, 0u);
    }
}

TEST_F(LogSyncTest, FailedSyncOfTheVolumeIsFinalForEveryLog) {
    append_to(kMany);
    std::string failing;
    world_.system.on_sync = [&](const std::string& path) {
        if (path != "/data") {
            return;
        }
        failing = path;
        world_.system.fail_call(1, EIO);
    };
    const auto synced = sync_all();
    ASSERT_FALSE(synced);
    EXPECT_EQ(failing, "/data");
    EXPECT_EQ(synced.error().kind, StorageError::Kind::sync_failed);
    world_.system.on_sync = nullptr;
    world_.system.heal();
    for (int i = 0; i < kMany; ++i) {
        EXPECT_EQ(world_.log(i).recovery_point(), Offset{0});
        auto batch = make_batch();
        EXPECT_FALSE(world_.log(i).append(batch, {.leader_epoch = {0}, .now = {1000}}));
    }
    ASSERT_FALSE(world_.directory->close());
    world_.kill();
    EXPECT_FALSE(world_.directory->open_report().was_clean);
    expect_ends(kMany, Offset{1});
}

TEST_F(LogSyncTest, LogThatSomebodyElseSyncsIsLeftOut) {
    append_to(kMany);
    {
        LogSync elsewhere(world_.log(0).core(), LogSync::Purpose::sync);
        ASSERT_TRUE(elsewhere.choose());
        ASSERT_TRUE(sync_all());
        EXPECT_EQ(world_.log(0).recovery_point(), Offset{0});
        EXPECT_EQ(world_.log(1).recovery_point(), Offset{1});
        ASSERT_TRUE(elsewhere.sync_content());
        ASSERT_TRUE(elsewhere.conclude());
    }
    EXPECT_EQ(world_.log(0).recovery_point(), Offset{1});
}

TEST_F(LogSyncTest, DeletedLogsDoNotDisturbTheOthers) {
    append_to(kMany);
    const auto all = logs();
    world_.system.on_sync = [&](const std::string&) { all[0]->mark_deleted(); };
    all[1]->mark_deleted();
    EXPECT_TRUE(sync_logs(world_.directory->volume(), all, LogSync::Purpose::sync));
    world_.system.on_sync = nullptr;
    EXPECT_EQ(all[2]->recovery_point(), Offset{1});
}

/// Writes two batches to each of many logs and syncs the first ones. Then a stop fails at its call number `call` and all later
/// ones, and the power fails. False: the stop needed fewer calls.
bool interrupt_stop(std::uint64_t call, bool volume_vouches) {
    StorageWorld world;
    for (std::uint64_t content = 0; content < 2; ++content) {
        for (int i = 0; i < kMany; ++i) {
            auto batch = make_batch({.value_bytes = 100, .content = content});
            EXPECT_TRUE(world.log(i).append(batch, {.leader_epoch = {0}, .now = {1000}}));
        }
        if (content > 0) {
            break;
        }
        EXPECT_TRUE(sync_logs(world.directory->volume(), world.directory->logs_to_sync(), LogSync::Purpose::sync));
    }
    world.system.volume_vouches = volume_vouches;
    world.system.fail_call(call, call % 3 == 0 ? ENOSPC : EIO, true);
    const bool closed = world.directory->close().has_value();
    const bool reached = world.system.fault_happened();
    EXPECT_EQ(closed, !reached);
    world.system.heal();
    world.lose_power(call);
    // When only the very last call failed, the mark may be there, and then it is true.
    const bool was_clean = world.directory->open_report().was_clean;
    EXPECT_TRUE(was_clean || !closed);
    for (int i = 0; i < kMany; ++i) {
        EXPECT_GE(world.log(i).log_end_offset(), Offset{was_clean ? 2 : 1}) << "partition " << i;
        EXPECT_THAT(test::read_all(world.log(i), Offset{0}), ::testing::HasSubstr("/0/v")) << "partition " << i;
    }
    return reached;
}

TEST(LogSync, StopThatIsInterruptedAnywhereLosesNothingSyncedAndLeavesNoUntrueMark) {
    for (const bool vouches : {true, false}) {
        for (std::uint64_t call = 1; interrupt_stop(call, vouches); call += call < 20 ? 1 : 13) {
            ASSERT_FALSE(::testing::Test::HasFailure()) << "call " << call << (vouches ? ", together" : ", one by one");
        }
    }
}

TEST_F(LogSyncTest, BackgroundSyncTellsNobodyAndCountsEveryLog) {
    append_to(kMany);
    LogFlusher flusher(real_schedule().executor);
    flusher.request_background_sync(world_.directory->volume(), logs());
    flusher.request_background_sync(world_.directory->volume(), logs());
    while (!world_.directory->logs_to_sync().empty()) {
        std::this_thread::yield();
    }
    flusher.drain();
    EXPECT_GE(flusher.counters().syncs, kMany);
    EXPECT_LE(flusher.counters().syncs, 2 * kMany);
    EXPECT_FALSE(flusher.failure());
}

// The segment's records were durable when it was sealed, and the end of its time index was written only then.
TEST(LogSync, IndexesOfASegmentThatWasSealedAfterItsSyncAreDurableAtTheCheckpoint) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        test::StorageWorld world;
        world.config->segment_bytes = 7000;
        world.config->index_interval_bytes = 2000;
        const auto append = [&](std::int64_t timestamp) {
            auto batch = test::make_batch({.value_bytes = 1500, .timestamp = {timestamp}});
            ASSERT_TRUE(world.log().append(batch, {.leader_epoch = {0}, .now = {1}}));
        };
        for (int i = 0; i < 3; ++i) {
            append(1000);
        }
        ASSERT_TRUE(world.log().checkpoint());
        append(5000);  // No index entry is due.
        ASSERT_TRUE(world.log().sync());
        append(1000);  // In a new segment.
        ASSERT_TRUE(world.log().checkpoint());
        ASSERT_TRUE(world.directory->write_checkpoints());
        world.lose_power(seed);
        const auto found = world.log().offset_for_timestamp({4000}, world.log().log_end_offset());
        ASSERT_TRUE(found && *found) << "seed " << seed;
        EXPECT_EQ((*found)->offset, Offset{3}) << "seed " << seed;
    }
}

TEST(LogSync, SegmentThatIsRemovedMeanwhileFailsNoCheckpoint) {
    test::StorageWorld world;
    world.config->segment_bytes = 300;
    for (int i = 0; i < 5; ++i) {
        auto batch = test::make_batch({.value_bytes = 200});
        ASSERT_TRUE(world.log().append(batch, {.leader_epoch = {0}, .now = {1}}));
    }
    const auto log = world.shared_log();
    bool is_first = true;
    world.system.on_sync = [&](const std::string&) {
        if (!std::exchange(is_first, false)) {
            return;
        }
        EXPECT_TRUE(*log->delete_records_before({4}));
    };
    const auto done = log->checkpoint();
    EXPECT_TRUE(done) << done.error().message;
    EXPECT_FALSE(log->needs_checkpoint());
}

// A topic is deleted while its logs wait. Closing a file takes the lock of the open files. A development build ends when this
// happens under the flusher's own lock.
TEST_F(LogSyncTest, LogsThatTheFlusherLetsGoOfLastAreClosedWithoutItsLock) {
    append_to(2);
    LogFlusher flusher(real_schedule().executor);
    std::vector<std::shared_ptr<PartitionLog>> last;
    for (int partition : {0, 1}) {
        last.push_back(world_.shared_log(partition));
        ASSERT_TRUE(world_.directory->remove(last.back()));
    }
    world_.logs.clear();
    const std::vector<std::weak_ptr<PartitionLog>> seen(last.begin(), last.end());
    std::promise<void> served;
    ASSERT_TRUE(flusher.request_sync(std::move(last[0]), [&](const StorageResult<Offset>&) { served.set_value(); }));
    served.get_future().get();
    flusher.request_background_sync(world_.directory->volume(), {std::move(last[1])});
    flusher.drain();
    for (const std::weak_ptr<PartitionLog>& log : seen) {
        EXPECT_TRUE(log.expired());
    }
}

TEST_F(LogSyncTest, CheckpointCoversEveryLogAndIsTold) {
    for (const int count : {3, kMany}) {  // One by one, and together.
        append_to(count, static_cast<std::uint64_t>(count));
        LogFlusher flusher(real_schedule().executor);
        std::promise<bool> done;
        flusher.request_background_sync(world_.directory->volume(), logs());
        flusher.request_checkpoint(world_.directory->volume(), logs(),
                                   [&](const StorageResult<void>& result) { done.set_value(result.has_value()); });
        EXPECT_TRUE(done.get_future().get());
        EXPECT_TRUE(world_.directory->logs_to_checkpoint().empty());
        EXPECT_EQ(world_.directory->bytes_since_checkpoint(), 0u);
    }
}

TEST_F(LogSyncTest, CheckpointWithoutSpaceForIndexesSyncsAndSaysSo) {
    append_to(3);
    LogFlusher flusher(real_schedule().executor);
    std::promise<bool> done;
    world_.system.fail_call(1, ENOSPC, true, true);
    flusher.request_checkpoint(world_.directory->volume(), logs(),
                               [&](const StorageResult<void>& result) { done.set_value(result.has_value()); });
    EXPECT_FALSE(done.get_future().get());
    world_.system.heal();
    EXPECT_FALSE(flusher.failure());
    EXPECT_FALSE(world_.directory->logs_to_checkpoint().empty());
    EXPECT_GT(world_.directory->bytes_since_checkpoint(), 0u);
}

TEST_F(LogSyncTest, FailedCheckpointIsLatchedAndTold) {
    append_to(3);
    LogFlusher flusher(real_schedule().executor);
    world_.system.on_sync = [&](const std::string&) { world_.system.fail_call(1, EIO, true); };
    for (int attempt = 0; attempt < 2; ++attempt) {
        std::promise<StorageError::Kind> done;
        flusher.request_checkpoint(world_.directory->volume(), logs(),
                                   [&](const StorageResult<void>& result) { done.set_value(result.error().kind); });
        EXPECT_EQ(done.get_future().get(), StorageError::Kind::sync_failed);
    }
    world_.system.heal();
}

TEST_F(LogSyncTest, WhoWaitsIsServedBetweenBackgroundSyncs) {
    append_to(kMany);
    LogFlusher flusher(real_schedule().executor);
    std::atomic<int> served = 0;
    for (int i = 0; i < 20; ++i) {
        append_to(kMany, static_cast<std::uint64_t>(i) + 1);
        flusher.request_background_sync(world_.directory->volume(), logs());
        ASSERT_TRUE(flusher.request_sync(world_.shared_log(0), [&](const StorageResult<Offset>& synced) {
            EXPECT_TRUE(synced);
            ++served;
        }));
    }
    flusher.drain();
    EXPECT_EQ(served, 20);
}

TEST_F(LogSyncTest, FailedBackgroundSyncIsLatched) {
    append_to(kMany);
    LogFlusher flusher(real_schedule().executor);
    world_.system.on_sync = [&](const std::string&) { world_.system.fail_call(1, EIO, true); };
    flusher.request_background_sync(world_.directory->volume(), logs());
    while (!flusher.failure()) {
        std::this_thread::yield();
    }
    EXPECT_EQ(flusher.failure()->kind, StorageError::Kind::sync_failed);
    flusher.drain();
    world_.system.heal();
}

class WriteBackTest : public ::testing::Test {
  protected:
    using Piece = std::pair<std::uint64_t, std::uint64_t>;

    WriteBackTest() {
        world_.system.on_write_back = [this](const std::string& path, std::uint64_t position, std::uint64_t length) {
            EXPECT_TRUE(path.ends_with(".log")) << path;
            pieces_.emplace_back(position, length);
            if (on_piece_) {
                on_piece_();
            }
        };
    }
    void append(std::size_t value_bytes) {
        auto batch = make_batch({.value_bytes = value_bytes});
        ASSERT_TRUE(world_.log().append(batch, {.leader_epoch = {0}, .now = {1000}}));
    }
    StorageResult<Offset> sync(LogSync::Purpose purpose) { return LogSync(world_.log().core(), purpose).run(); }
    [[nodiscard]] static std::vector<Piece> pieces(std::uint64_t count) {
        std::vector<Piece> all;
        for (std::uint64_t i = 0; i < count; ++i) {
            all.emplace_back(i * kWriteBackBytes, kWriteBackBytes);
        }
        return all;
    }

    StorageWorld world_;
    std::vector<Piece> pieces_;
    std::function<void()> on_piece_;
};

TEST_F(WriteBackTest, WhatNobodyWaitsForIsSentInPiecesBeforeItIsSynced) {
    append(2 * kWriteBackBytes + kWriteBackBytes / 2);
    world_.system.on_sync = [&](const std::string& path) {
        if (!path.ends_with(".log")) {
            return;
        }
        EXPECT_EQ(pieces_, pieces(2)) << "the last piece is the sync's";
    };
    ASSERT_TRUE(sync(LogSync::Purpose::sync));
    EXPECT_EQ(pieces_, pieces(2));
    world_.system.on_sync = nullptr;
    append(kWriteBackBytes);
    ASSERT_TRUE(sync(LogSync::Purpose::checkpoint));
    EXPECT_EQ(pieces_, pieces(3)) << "nothing is sent twice";
}

TEST_F(WriteBackTest, ManyLogsThatShareASyncSendTheirPiecesBefore) {
    append(kWriteBackBytes + 1);
    for (int i = 1; i < kMany; ++i) {
        auto batch = make_batch({.value_bytes = 100});
        ASSERT_TRUE(world_.log(i).append(batch, {.leader_epoch = {0}, .now = {1000}}));
    }
    ASSERT_TRUE(sync_logs(world_.directory->volume(), world_.directory->logs_with_files(), LogSync::Purpose::sync));
    EXPECT_EQ(pieces_, pieces(1));
    EXPECT_EQ(world_.system.volume_syncs(), 1u);
}

TEST_F(WriteBackTest, WhatComesMeanwhileIsSentToo) {
    append(2 * kWriteBackBytes + 1);
    on_piece_ = [&] {
        if (pieces_.size() == 1) {
            append(kWriteBackBytes);
        }
    };
    ASSERT_TRUE(sync(LogSync::Purpose::sync));
    EXPECT_EQ(pieces_, pieces(3));
}

TEST_F(WriteBackTest, EndsThoughMoreComesThanIsSent) {
    append(2 * kWriteBackBytes + 1);
    on_piece_ = [&] { append(2 * kWriteBackBytes); };
    ASSERT_TRUE(sync(LogSync::Purpose::sync));
    EXPECT_EQ(pieces_, pieces(4)) << "as much again as there was";
}

TEST_F(WriteBackTest, AStopSendsEverythingAtOnce) {
    append(3 * kWriteBackBytes);
    ASSERT_TRUE(sync(LogSync::Purpose::close));
    EXPECT_THAT(pieces_, ::testing::IsEmpty());
}

TEST_F(WriteBackTest, OneOfFewLogsIsSyncedBeforeTheNextIsSent) {
    for (int i = 0; i < 2; ++i) {
        auto batch = make_batch({.value_bytes = kWriteBackBytes + 1});
        ASSERT_TRUE(world_.log(i).append(batch, {.leader_epoch = {0}, .now = {1000}}));
    }
    std::vector<std::size_t> sent_before_sync;
    world_.system.on_sync = [&](const std::string& path) {
        if (path.ends_with(".log")) {
            sent_before_sync.push_back(pieces_.size());
        }
    };
    ASSERT_TRUE(sync_logs(world_.directory->volume(), world_.directory->logs_with_files(), LogSync::Purpose::sync));
    EXPECT_EQ(sent_before_sync, (std::vector<std::size_t>{1, 2}));
}

TEST_F(WriteBackTest, WhoWaitsForASyncWaitsForNothingElse) {
    append(3 * kWriteBackBytes);
    ASSERT_TRUE(sync(LogSync::Purpose::awaited_sync));
    EXPECT_THAT(pieces_, ::testing::IsEmpty());
}

TEST_F(WriteBackTest, ALogThatFitsIntoOnePieceIsOnlySynced) {
    append(1000);
    ASSERT_TRUE(sync(LogSync::Purpose::sync));
    EXPECT_THAT(pieces_, ::testing::IsEmpty());
}

// The system reports a failed write-back once, so a sync after it would not hear of it.
TEST_F(WriteBackTest, AFailureIsThatOfTheSync) {
    append(2 * kWriteBackBytes);
    on_piece_ = [&] { world_.system.fail_call(1, EIO); };
    const auto failed = sync(LogSync::Purpose::sync);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().kind, StorageError::Kind::sync_failed);
    on_piece_ = nullptr;
    world_.system.heal();
    const auto again = sync(LogSync::Purpose::sync);
    ASSERT_FALSE(again) << "what became of those bytes nobody knows";
    EXPECT_EQ(again.error().kind, StorageError::Kind::sync_failed);
}

TEST(PosixFile, WriteBackChangesNothing) {
    PosixFileSystem system;
    const std::string path = ::testing::TempDir() + "/write_back";
    auto file = system.open(path, OpenMode::create_empty);
    ASSERT_TRUE(file) << file.error().message;
    const std::string text(100'000, 'x');
    const Bytes bytes = as_bytes(text);
    ASSERT_TRUE((*file)->write_at(0, std::span(&bytes, 1)));
    const auto sent = (*file)->write_back(0, 50'000);
    EXPECT_TRUE(sent) << sent.error().message;
    EXPECT_TRUE((*file)->write_back(50'000, 1'000'000)) << "beyond the end there is nothing to send";
    EXPECT_EQ((*file)->size(), text.size());
    std::string read(text.size(), ' ');
    ASSERT_TRUE((*file)->read_at(0, std::as_writable_bytes(std::span(read))));
    EXPECT_EQ(read, text);
}

TEST(PosixVolume, IsSyncedOrSaysThatItPromisesNothing) {
    PosixFileSystem system;
    auto volume = system.open_volume(::testing::TempDir());
    ASSERT_TRUE(volume) << volume.error().message;
    EXPECT_TRUE((*volume)->sync());
    EXPECT_FALSE(system.open_volume("/nowhere/at/all"));
}

TEST_F(LogSyncTest, WhatIsToBeFirstIsCountedOnceWhereItIsAlsoAskedFor) {
    StorageWorld world;
    LogFlusher flusher(real_schedule().executor);
    flusher.sync_first(world.shared_log(0));
    for (const int partition : {0, 1}) {
        auto batch = make_batch();
        ASSERT_TRUE(world.log(partition).append(batch, {.leader_epoch = {0}, .now = {1000}}));
    }
    std::promise<void> served;
    flusher.request_checkpoint(world.directory->volume(), {world.shared_log(0), world.shared_log(1)},
                               [&](const StorageResult<void>&) { served.set_value(); });
    served.get_future().get();
    EXPECT_EQ(flusher.counters().syncs, 2u);
    auto batch = make_batch();
    ASSERT_TRUE(world.log(0).append(batch, {.leader_epoch = {0}, .now = {1000}}));
    std::promise<void> again;
    ASSERT_TRUE(flusher.request_sync(world.shared_log(0), [&](const StorageResult<Offset>&) { again.set_value(); }));
    again.get_future().get();
    EXPECT_EQ(flusher.counters().syncs, 3u);
}

TEST_F(LogSyncTest, WhatIsToBeFirstIsDurableBeforeWhatSomebodyWaitsForAndBeforeTheBackground) {
    for (const bool is_awaited : {true, false}) {
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            StorageWorld world;
            std::optional<LogFlusher> flusher(std::in_place, real_schedule().executor);
            flusher->sync_first(world.shared_log(0));
            for (const int partition : {0, 1}) {
                auto batch = make_batch();
                ASSERT_TRUE(world.log(partition).append(batch, {.leader_epoch = {0}, .now = {1000}}));
            }
            std::promise<void> served;
            std::vector<std::string> synced;
            world.system.on_sync = [&](const std::string& path) {
                if (path.ends_with(".log")) {
                    synced.push_back(path);
                }
            };
            if (is_awaited) {
                ASSERT_TRUE(
                    flusher->request_sync(world.shared_log(1), [&](const StorageResult<Offset>&) { served.set_value(); }));
            } else {
                flusher->request_checkpoint(world.directory->volume(), {world.shared_log(1)},
                                            [&](const StorageResult<void>&) { served.set_value(); });
            }
            served.get_future().get();
            EXPECT_EQ(flusher->counters().syncs, 2u);
            flusher.reset();
            ASSERT_EQ(synced.size(), 2u);
            EXPECT_TRUE(synced.front().starts_with("/data/t-0/"));
            world.system.on_sync = nullptr;
            world.lose_power(seed);
            EXPECT_EQ(world.log(0).log_end_offset(), Offset{1}) << "seed " << seed;
        }
    }
}

}  // namespace
}  // namespace partita
