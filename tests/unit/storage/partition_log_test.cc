#include "storage/partition_log.h"

#include <gtest/gtest.h>

#include <future>
#include <set>
#include <thread>

#include "storage/log_flusher.h"
#include "storage/segment.h"
#include "tests/support/storage_fixture.h"

namespace partita::test {
namespace {

const AppendContext kContext{.leader_epoch = {0}, .now = {1000}};

class PartitionLogTest : public ::testing::Test {
  protected:
    StagedAppend append(const TestBatch& batch = {}, AppendContext context = kContext) {
        auto bytes = make_batch(batch);
        auto done = world.log().append(bytes, context);
        EXPECT_TRUE(done.has_value()) << (done ? "" : done.error().message);
        if (!done) {
            return {};
        }
        written += as_text(Bytes(bytes));
        return *done;
    }
    /// Waits for a sync, as a producer to a topic with flush.messages=1 does.
    void wait_for_sync() {
        LogFlusher flusher(real_schedule().executor);
        ASSERT_TRUE(flusher.request_sync(world.shared_log(), [](const auto& synced) { EXPECT_TRUE(synced); }));
        flusher.drain();
    }
    std::string first_file() { return world.system.content("/data/t-0/00000000000000000000.log"); }
    /// Leaves zeros behind the records.
    void append_padded() {
        append({.value_bytes = Segment::kSmallestReservation});
        wait_for_sync();
        append();
        ASSERT_GT(first_file().size(), written.size());
    }
    StorageWorld world;
    std::string written;
};

TEST_F(PartitionLogTest, EmptyPartitionHasNoDirectory) {
    PartitionLog& log = world.log();
    EXPECT_EQ(log.log_end_offset(), Offset{0});
    EXPECT_FALSE(log.has_files());
    EXPECT_TRUE(world.system.files_below("/data/t-0").empty());
    EXPECT_LT(sizeof(PartitionLog), 256u);
}

TEST_F(PartitionLogTest, ASegmentThatIsLargeEnoughIsEndedOnRequest) {
    PartitionLog& log = world.log();
    ASSERT_TRUE(log.begin_segment(1, {1000})) << "an empty log has none";
    EXPECT_FALSE(log.has_files());
    append({.records = 3});
    ASSERT_TRUE(log.begin_segment(1 << 20, {1000}));
    EXPECT_EQ(log.segments().size(), 1u);
    ASSERT_TRUE(log.begin_segment(1, {1000}));
    ASSERT_TRUE(log.begin_segment(1, {1000})) << "the new one is empty";
    ASSERT_EQ(log.segments().size(), 2u);
    EXPECT_EQ(log.segments()[1].base_offset, Offset{3});
    EXPECT_EQ(append().base_offset, Offset{3});
    EXPECT_EQ(first_file().size(), log.segments()[0].size_bytes);
}

TEST_F(PartitionLogTest, OffsetsAreDenseAndBytesAreServedAsTheyCame) {
    EXPECT_EQ(append({.records = 3}).base_offset, Offset{0});
    EXPECT_EQ(append({.records = 2}).base_offset, Offset{3});
    EXPECT_EQ(world.log().log_end_offset(), Offset{5});
    EXPECT_EQ(read_all(world.log(), {0}), written);
}

TEST_F(PartitionLogTest, ReadStartsAtTheBatchThatHoldsTheOffset) {
    append({.records = 3});
    append({.records = 3});
    auto slice = world.log().read({4}, {.upper_bound = {6}});
    ASSERT_TRUE(slice);
    EXPECT_EQ(slice->base_offset, Offset{3});
}

TEST_F(PartitionLogTest, ReadOutsideOfTheLogIsOutOfRange) {
    append();
    EXPECT_EQ(world.log().read({2}, {.upper_bound = {9}}).error().error, ReadError::out_of_range);
    EXPECT_EQ(world.log().read({-1}, {.upper_bound = {9}}).error().error, ReadError::out_of_range);
    auto at_end = world.log().read({1}, {.upper_bound = {9}});
    ASSERT_TRUE(at_end);
    EXPECT_EQ(at_end->size, 0u);
}

TEST_F(PartitionLogTest, MinimumOneBatchReturnsALargeFirstBatchWhole) {
    append({.records = 1, .value_bytes = 5000});
    append({.records = 1, .value_bytes = 5000});
    auto none = world.log().read({0}, {.upper_bound = {2}, .max_bytes = 100});
    ASSERT_TRUE(none);
    EXPECT_EQ(none->size, 0u);
    EXPECT_GT(none->available_bytes, 10000u);
    auto one = world.log().read({0}, {.upper_bound = {2}, .max_bytes = 100, .minimum_one_batch = true});
    ASSERT_TRUE(one);
    EXPECT_EQ(one->size, one->first_batch_size);
}

TEST_F(PartitionLogTest, UpperBoundCutsAtABatch) {
    append({.records = 2});
    append({.records = 2});
    auto slice = world.log().read({0}, {.upper_bound = {2}});
    ASSERT_TRUE(slice);
    EXPECT_EQ(slice->size, slice->first_batch_size);
}

TEST_F(PartitionLogTest, RollsBySizeAndReadsAcrossSegments) {
    world.config->segment_bytes = 1000;
    for (int i = 0; i < 20; ++i) {
        append({.value_bytes = 300, .content = static_cast<std::uint64_t>(i)});
    }
    EXPECT_GT(world.log().segments().size(), 4u);
    for (const SegmentSummary& segment : world.log().segments()) {
        EXPECT_LE(segment.size_bytes, 1000u);
    }
    EXPECT_EQ(read_all(world.log(), {0}), written);
}

TEST_F(PartitionLogTest, RollsByRecordTime) {
    world.config->segment_ms = 1000;
    append({.timestamp = {5000}});
    append({.timestamp = {6000}});
    EXPECT_EQ(world.log().segments().size(), 1u);
    append({.timestamp = {6001}});
    EXPECT_EQ(world.log().segments().size(), 2u);
}

TEST_F(PartitionLogTest, RollsByArrivalTimeWhereRecordsHaveNone) {
    world.config->segment_ms = 1000;
    append({.timestamp = {-1}}, {.leader_epoch = {0}, .now = {1000}});
    append({.timestamp = {-1}}, {.leader_epoch = {0}, .now = {2000}});
    EXPECT_EQ(world.log().segments().size(), 1u);
    append({.timestamp = {-1}}, {.leader_epoch = {0}, .now = {2001}});
    EXPECT_EQ(world.log().segments().size(), 2u);
}

TEST_F(PartitionLogTest, RollsWhenTheIndexIsFull) {
    world.config->segment_index_bytes = 24;
    world.config->index_interval_bytes = 100;
    for (int i = 0; i < 20; ++i) {
        append({.value_bytes = 200});
    }
    EXPECT_GT(world.log().segments().size(), 3u);
    EXPECT_EQ(read_all(world.log(), {0}), written);
}

TEST_F(PartitionLogTest, StagedBatchesShareOneWrite) {
    append();
    auto one = make_batch({.content = 1});
    auto two = make_batch({.content = 2});
    auto first = world.log().stage(one, kContext);
    auto second = world.log().stage(two, kContext);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(world.log().log_end_offset(), Offset{1}) << "nothing is published before the write";
    world.system.heal();
    world.log().flush_staged();
    EXPECT_EQ(world.system.calls(), 1u);
    EXPECT_TRUE(first->result() && second->result());
    EXPECT_EQ(world.log().log_end_offset(), Offset{3});
}

TEST_F(PartitionLogTest, DuplicateReturnsTheOriginalOffset) {
    const TestBatch first{.records = 2, .producer_id = {7}, .producer_epoch = {0}, .base_sequence = {0}};
    append(first);
    append({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {2}});
    auto again = make_batch(first);
    auto repeated = world.log().append(again, kContext);
    ASSERT_TRUE(repeated);
    EXPECT_TRUE(repeated->duplicate);
    EXPECT_EQ(repeated->base_offset, Offset{0});
    EXPECT_EQ(world.log().log_end_offset(), Offset{3});
}

TEST_F(PartitionLogTest, OutOfOrderSequenceIsRefused) {
    append({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {0}});
    auto gap = make_batch({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {5}});
    EXPECT_EQ(world.log().append(gap, kContext).error().failure, AppendFailure::out_of_order_sequence);
    auto old = make_batch({.producer_id = {7}, .producer_epoch = {-1}, .base_sequence = {1}});
    EXPECT_EQ(world.log().append(old, kContext).error().failure, AppendFailure::invalid_producer_epoch);
}

TEST_F(PartitionLogTest, MalformedBatchIsRefused) {
    auto bytes = make_batch();
    EXPECT_EQ(world.log().append(MutableBytes(bytes).first(bytes.size() - 1), kContext).error().failure,
              AppendFailure::malformed_batch);
    EXPECT_EQ(world.log().append(MutableBytes(bytes).first(10), kContext).error().failure, AppendFailure::malformed_batch);
    auto no_sequence = make_batch({.producer_id = {1}, .producer_epoch = {0}, .base_sequence = {-1}});
    EXPECT_EQ(world.log().append(no_sequence, kContext).error().failure, AppendFailure::malformed_batch);
}

TEST_F(PartitionLogTest, FullDiskFailsTheFlushAndHeals) {
    append({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {0}});
    const TestBatch next{.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {1}};
    world.system.fail_call(1, ENOSPC, true, true);
    auto bytes = make_batch(next);
    auto failed = world.log().append(bytes, kContext);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().failure, AppendFailure::storage_error);
    EXPECT_NE(failed.error().message.find("No space left"), std::string::npos) << failed.error().message;
    EXPECT_EQ(world.log().log_end_offset(), Offset{1});
    EXPECT_EQ(read_all(world.log(), {0}), written) << "reads go on";
    world.system.heal();
    EXPECT_EQ(append(next).base_offset, Offset{1}) << "the sequence was given back";
    EXPECT_EQ(read_all(world.log(), {0}), written);
    EXPECT_EQ(world.system.content("/data/t-0/00000000000000000000.log"), written);
}

TEST_F(PartitionLogTest, FileIsPaddedWithZerosWhileSomebodyWaitsForSmallSyncs) {
    append({.value_bytes = Segment::kSmallestReservation});
    append();
    EXPECT_EQ(first_file(), written) << "nobody waits for a sync";
    wait_for_sync();
    append();
    const std::string padded = first_file();
    ASSERT_GT(padded.size(), written.size());
    EXPECT_EQ(padded.substr(0, written.size()), written);
    EXPECT_EQ(padded.find_first_not_of('\0', written.size()), std::string::npos);
    wait_for_sync();
    append();
    EXPECT_EQ(first_file().size(), padded.size()) << "what is written now replaces zeros";
    EXPECT_EQ(read_all(world.log(), {0}), written);
}

TEST_F(PartitionLogTest, ManyBytesBetweenTwoSyncsAreNotWrittenTwice) {
    append({.value_bytes = Segment::kSmallestReservation});
    wait_for_sync();
    append({.value_bytes = Segment::kLargestPaddedSync});
    EXPECT_EQ(first_file(), written);
}

TEST_F(PartitionLogTest, PaddingIsGoneAfterAKillAStopAndARoll) {
    append_padded();
    world.kill();
    EXPECT_EQ(first_file(), written);
    EXPECT_EQ(read_all(world.log(), {0}), written);
    append_padded();
    world.restart_cleanly();
    EXPECT_EQ(first_file(), written);
    append_padded();
    const std::string sealed = written;
    world.config->segment_bytes = 1;
    append();
    EXPECT_EQ(first_file(), sealed);
    EXPECT_EQ(read_all(world.log(), {0}), written);
}

TEST_F(PartitionLogTest, PowerLossInPaddingLosesNothingThatWasSynced) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        world.lose_power(seed);
        const std::string before = read_all(world.log(), {0});
        ASSERT_EQ(before, written.substr(0, before.size())) << seed;
        written = before;
        append_padded();
        wait_for_sync();
        const std::string synced = written;
        append();
        append();
        world.lose_power(seed);
        const std::string after = read_all(world.log(), {0});
        ASSERT_TRUE(after.starts_with(synced)) << seed;
        ASSERT_TRUE(written.starts_with(after)) << seed;
        ASSERT_EQ(first_file(), after) << seed;
        written = after;
    }
}

TEST_F(PartitionLogTest, SegmentWhoseZerosCannotBeCutOffIsNotSealed) {
    append_padded();
    world.config->segment_bytes = 1;
    world.system.fail_call(1, EIO);
    auto bytes = make_batch();
    EXPECT_FALSE(world.log().append(bytes, kContext));
    ASSERT_TRUE(world.system.fault_happened());
    const std::string sealed = written;
    append();
    EXPECT_EQ(first_file(), sealed);
    EXPECT_EQ(read_all(world.log(), {0}), written);
}

TEST_F(PartitionLogTest, FullDiskCostsThePaddingAndNotTheRecords) {
    append({.value_bytes = Segment::kSmallestReservation});
    wait_for_sync();
    world.system.fail_call(1, ENOSPC, false, true);
    append();
    EXPECT_TRUE(world.system.fault_happened());
    EXPECT_EQ(first_file(), written);
    EXPECT_EQ(read_all(world.log(), {0}), written);
}

TEST_F(PartitionLogTest, FailedSyncIsFinal) {
    append();
    world.system.fail_call(1, EIO, true);
    auto synced = world.log().sync();
    ASSERT_FALSE(synced);
    EXPECT_EQ(synced.error().kind, StorageError::Kind::sync_failed);
    world.system.heal();
    EXPECT_FALSE(world.log().sync());
    auto bytes = make_batch();
    EXPECT_FALSE(world.log().append(bytes, kContext));
}

TEST_F(PartitionLogTest, AppendsGoOnWhileAnyFileIsSynced) {
    world.config->segment_bytes = 250;
    world.config->index_interval_bytes = 1;
    append({.producer_id = {1}, .producer_epoch = {0}, .base_sequence = {0}, .transactional = true});
    for (int i = 0; i < 6; ++i) {
        append();
    }
    std::vector<std::byte> abort;
    build_end_transaction_marker({ControlRecordType::abort, 0}, {0}, {0}, {1}, {0}, {1000}, abort);
    ASSERT_TRUE(world.log().append(abort, kContext));
    PartitionLog& log = world.log();
    std::set<std::string> synced;
    world.system.on_sync = [&](const std::string& path) {
        synced.insert(path.substr(path.rfind('.')));
        auto appended = std::async(std::launch::async, [&] {
            auto bytes = make_batch();
            return log.append(bytes, kContext).has_value();
        });
        // The future's thread outlives a failed wait, so that a deadlock here shows as a deadlock.
        EXPECT_EQ(appended.wait_for(std::chrono::seconds(10)), std::future_status::ready) << path;
        EXPECT_TRUE(appended.get());
    };
    ASSERT_TRUE(log.sync());
    EXPECT_EQ(synced, (std::set<std::string>{".log", ".index", ".timeindex", ".txnindex", ".metadata"}));
    ASSERT_TRUE(log.checkpoint());
    world.system.on_sync = nullptr;
    EXPECT_EQ(synced, (std::set<std::string>{".log", ".index", ".timeindex", ".txnindex", ".metadata", ".tmp"}));
    EXPECT_FALSE(world.system.content("/data/t-0/leader-epoch-checkpoint").empty());
}

TEST_F(PartitionLogTest, LastStableOffsetWaitsForTheOldestOpenTransaction) {
    append();
    append({.producer_id = {1}, .producer_epoch = {0}, .base_sequence = {0}, .transactional = true});
    append({.producer_id = {2}, .producer_epoch = {0}, .base_sequence = {0}, .transactional = true});
    append();
    EXPECT_EQ(world.log().last_stable_offset(), Offset{1});
    EXPECT_EQ(world.log().high_watermark(), Offset{4});
    std::vector<std::byte> abort;
    build_end_transaction_marker({ControlRecordType::abort, 0}, {0}, {0}, {1}, {0}, {1000}, abort);
    ASSERT_TRUE(world.log().append(abort, kContext));
    EXPECT_EQ(world.log().last_stable_offset(), Offset{2});
    const auto aborted = world.log().aborted_transactions({0}, {10}).value();
    ASSERT_EQ(aborted.size(), 1u);
    EXPECT_EQ(aborted[0].first_offset, Offset{1});
}

TEST_F(PartitionLogTest, TimestampLookupFindsTheFirstRecordAtOrAfter) {
    world.config->index_interval_bytes = 200;
    world.config->segment_bytes = 3000;
    for (int i = 0; i < 100; ++i) {
        append({.timestamp = {1000 + 10 * i}});
    }
    PartitionLog& log = world.log();
    for (int i = 0; i < 100; ++i) {
        auto found = log.offset_for_timestamp({1000 + 10 * i - 3}, log.log_end_offset());
        ASSERT_TRUE(found && *found) << i;
        EXPECT_EQ((*found)->offset, Offset{i});
        EXPECT_EQ((*found)->timestamp, TimestampMs{1000 + 10 * i});
    }
    EXPECT_FALSE(*log.offset_for_timestamp({99999}, log.log_end_offset()));
    EXPECT_FALSE(*log.offset_for_timestamp({1500}, {50}));
    auto greatest = log.offset_of_max_timestamp();
    ASSERT_TRUE(greatest && *greatest);
    EXPECT_EQ((*greatest)->offset, Offset{99});
}

TEST_F(PartitionLogTest, DeleteRecordsMovesTheStartAndFreesSegments) {
    world.config->segment_bytes = 1000;
    for (int i = 0; i < 20; ++i) {
        append({.value_bytes = 300});
    }
    PartitionLog& log = world.log();
    const std::size_t files_before = world.system.files_below("/data/t-0").size();
    ASSERT_TRUE(*log.delete_records_before({10}));
    EXPECT_EQ(log.log_start_offset(), Offset{10});
    EXPECT_LT(world.system.files_below("/data/t-0").size(), files_before);
    EXPECT_EQ(log.read({9}, {.upper_bound = {20}}).error().error, ReadError::out_of_range);
    EXPECT_TRUE(log.read({10}, {.upper_bound = {20}}));
    EXPECT_FALSE(*log.delete_records_before({21}));
    ASSERT_TRUE(*log.delete_records_before({20}));
    ASSERT_TRUE(world.directory->write_checkpoints());
    world.kill();
    EXPECT_EQ(world.log().log_start_offset(), Offset{20});
    EXPECT_EQ(append().base_offset, Offset{20});
}

TEST_F(PartitionLogTest, RetentionOfEverythingKeepsTheLogEnd) {
    world.config->segment_bytes = 1000;
    world.config->retention_ms = 100;
    for (int i = 0; i < 10; ++i) {
        append({.value_bytes = 300});
    }
    auto removed = world.log().apply_retention({5000});
    ASSERT_TRUE(removed);
    EXPECT_GT(removed->size(), 2u);
    EXPECT_EQ(world.log().log_start_offset(), Offset{10});
    EXPECT_EQ(world.log().size_bytes(), 0u);
    world.kill();
    EXPECT_EQ(world.log().log_end_offset(), Offset{10});
    EXPECT_EQ(append().base_offset, Offset{10});
}

TEST_F(PartitionLogTest, LeaderEpochsAreRememberedAcrossACrash) {
    append({.records = 3}, {.leader_epoch = {0}, .now = {1}});
    append({.records = 4}, {.leader_epoch = {2}, .now = {1}});
    const auto check = [&] {
        const EpochEnd end = world.log().offset_for_leader_epoch({1});
        EXPECT_EQ(end.leader_epoch, LeaderEpoch{0});
        EXPECT_EQ(end.end_offset, Offset{3});
        EXPECT_EQ(world.log().offset_for_leader_epoch({2}).end_offset, Offset{7});
        EXPECT_EQ(world.log().offset_for_leader_epoch({3}).end_offset, kNoOffset);
    };
    check();
    world.kill();
    check();
    world.restart_cleanly();
    check();
}

TEST_F(PartitionLogTest, ProducerStateSurvivesKillAndCleanStop) {
    for (int i = 0; i < 5; ++i) {
        append({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {i}});
    }
    world.kill();
    for (int i = 0; i < 5; ++i) {
        auto again = make_batch({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {i}});
        auto repeated = world.log().append(again, kContext);
        ASSERT_TRUE(repeated) << repeated.error().message;
        EXPECT_TRUE(repeated->duplicate);
        EXPECT_EQ(repeated->base_offset, Offset{i});
    }
    world.restart_cleanly();
    auto again = make_batch({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {4}});
    auto repeated = world.log().append(again, kContext);
    ASSERT_TRUE(repeated);
    EXPECT_TRUE(repeated->duplicate);
    append({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {5}});
}

TEST_F(PartitionLogTest, DeletedLogIsClosedAndItsNameIsFree) {
    append({.records = 5});
    auto old = world.shared_log();
    ASSERT_TRUE(world.directory->remove(old));
    auto bytes = make_batch();
    EXPECT_EQ(old->append(bytes, kContext).error().failure, AppendFailure::closed);
    EXPECT_EQ(old->read({0}, {.upper_bound = {5}}).error().error, ReadError::closed);
    world.topic = std::make_shared<LogTopic>(LogTopic{"t", {{9}}});
    written.clear();
    EXPECT_EQ(append().base_offset, Offset{0});
    ASSERT_TRUE(world.directory->purge_removed());
    EXPECT_EQ(read_all(world.log(), {0}), written);
    EXPECT_EQ(old->read({0}, {.upper_bound = {5}}).error().error, ReadError::closed);
}

TEST_F(PartitionLogTest, TwoThreadsStageAndFlushAndEachLearnsItsOwn) {
    PartitionLog& log = world.log();
    const auto work = [&](int id) {
        for (int i = 0; i < 2000; ++i) {
            auto bytes = make_batch({.producer_id = {id}, .producer_epoch = {0}, .base_sequence = {i}});
            auto staged = log.stage(bytes, kContext);
            ASSERT_TRUE(staged);
            log.flush_staged();
            ASSERT_TRUE(staged->result());
            ASSERT_LT(staged->base_offset, log.log_end_offset());
        }
    };
    std::thread one(work, 1);
    std::thread two(work, 2);
    one.join();
    two.join();
    EXPECT_EQ(log.log_end_offset(), Offset{4000});
    EXPECT_EQ(read_all(log, {0}).substr(0, 5).find("error"), std::string::npos);
}

TEST_F(PartitionLogTest, AnAppendThatReadItsEpochBeforeAnotherBeganANewOneCarriesTheNewOne) {
    auto first = make_batch({.records = 1});
    auto second = make_batch({.records = 1});
    ASSERT_TRUE(world.log().append(first, {.leader_epoch = {5}, .now = {1000}}));
    ASSERT_TRUE(world.log().append(second, {.leader_epoch = {3}, .now = {1000}}));
    EXPECT_EQ(world.log().leader_epoch_at({1}), LeaderEpoch{5});
    EXPECT_EQ(world.log().leader_epochs(), (std::vector<EpochStart>{{{5}, {0}}}));
}

}  // namespace
}  // namespace partita::test
