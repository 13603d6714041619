#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <thread>

#include "storage/checkpoint_text.h"
#include "storage/leader_epochs.h"
#include "storage/log_flusher.h"
#include "storage/offset_index.h"
#include "storage/producer_snapshot.h"
#include "storage/producer_state.h"
#include "storage/retention.h"
#include "storage/segment.h"
#include "tests/support/declared_settings.h"
#include "tests/support/storage_fixture.h"

namespace partita::test {
namespace {

TEST(RemoveRecursively, TakesLinksAndNotWhatTheyLeadTo) {
    namespace fs = std::filesystem;
    std::string base = ::testing::TempDir() + "partita-remove-XXXXXX";
    ASSERT_NE(::mkdtemp(base.data()), nullptr);
    const fs::path directory(base);
    fs::create_directories(directory / "elsewhere");
    std::ofstream(directory / "elsewhere/file") << "x";
    fs::create_directories(directory / "doomed/below");
    std::ofstream(directory / "doomed/below/file") << "x";
    fs::create_directory_symlink(directory / "elsewhere", directory / "doomed/link");
    fs::create_directory_symlink(directory / "doomed", directory / "doomed/below/loop");
    fs::create_directory_symlink(directory / "elsewhere", directory / "linked");
    PosixFileSystem system;
    EXPECT_TRUE(remove_recursively(system, directory / "doomed"));
    EXPECT_TRUE(remove_recursively(system, directory / "linked"));
    EXPECT_TRUE(remove_recursively(system, directory / "missing"));
    EXPECT_FALSE(fs::exists(directory / "doomed"));
    EXPECT_FALSE(fs::exists(directory / "linked"));
    EXPECT_TRUE(fs::exists(directory / "elsewhere/file"));
    fs::remove_all(directory);
}

TEST(CheckpointText, RoundTripsAndRefusesWhatIsNotOne) {
    const OffsetCheckpoint checkpoint{{{"a", 0}, {5}}, {{"b-c", 12}, {7}}};
    EXPECT_EQ(to_text(checkpoint), "0\n2\na 0 5\nb-c 12 7\n");
    EXPECT_EQ(parse_offset_checkpoint(to_text(checkpoint)), checkpoint);
    EXPECT_EQ(parse_offset_checkpoint(""), OffsetCheckpoint{}) << "as a Kafka has it that was just started";
    for (const char* bad : {"\n", "1\n0\n", "0\n2\na 0 5\n", "0\n1\na 0\n", "0\n1\na 0 -5\n", "0\n1\na 0 5", "0\n-1\n"}) {
        EXPECT_FALSE(parse_offset_checkpoint(bad)) << bad;
    }
}

TEST(CheckpointText, WhatIsNotReadIsNotWritten) {
    EXPECT_DEATH((void)to_text(OffsetCheckpoint{{{"a", 0}, {-5}}}), "parse_offset_checkpoint takes no other line");
    EXPECT_DEATH((void)to_text(OffsetCheckpoint{{{"a", -1}, {5}}}), "parse_offset_checkpoint takes no other line");
    EXPECT_DEATH((void)to_text(OffsetCheckpoint{{{"", 0}, {5}}}), "parse_offset_checkpoint takes no other line");
}

TEST(SegmentFileName, WhatIsNotReadIsNotWritten) {
    EXPECT_EQ(parse_segment_file_name(segment_file_name({12}, ".log"), ".log"), Offset{12});
    EXPECT_FALSE(parse_segment_file_name("-0000000000000000001.log", ".log"));
    EXPECT_DEATH((void)segment_file_name({-1}, ".log"), "parse_segment_file_name takes no other back");
}

TEST(LeaderEpochs, EndOfAnEpochIsTheStartOfTheNext) {
    LeaderEpochs epochs;
    EXPECT_TRUE(epochs.assign({1}, {0}));
    EXPECT_FALSE(epochs.assign({1}, {5}));
    EXPECT_TRUE(epochs.assign({4}, {10}));
    EXPECT_EQ(epochs.end_of({1}, {20}).end_offset, Offset{10});
    EXPECT_EQ(epochs.end_of({3}, {20}).leader_epoch, LeaderEpoch{1});
    EXPECT_EQ(epochs.end_of({4}, {20}).end_offset, Offset{20});
    EXPECT_EQ(epochs.end_of({5}, {20}).end_offset, kNoOffset);
    EXPECT_EQ(LeaderEpochs::parse(epochs.to_text())->entries(), epochs.entries());
    EXPECT_FALSE(LeaderEpochs::parse("0\n2\n4 10\n1 0\n"));
}

TEST(ProducerState, SequenceWrapsFromTheLargestToZero) {
    ProducerState state;
    BatchHeader header;
    header.producer_id = {1};
    header.producer_epoch = {0};
    header.base_sequence = {std::numeric_limits<std::int32_t>::max() - 1};
    header.last_offset_delta = 3;
    header.record_count = 4;
    auto update = state.prepare(header, std::nullopt, {.now = {0}});
    ASSERT_TRUE(update);
    state.commit(std::get<ProducerState::Update>(*update));
    EXPECT_EQ(state.find({1})->last_sequence(), Sequence{1});
    auto again = state.prepare(header, std::nullopt, {.now = {0}});
    ASSERT_TRUE(again);
    EXPECT_TRUE(std::holds_alternative<ProducerState::Duplicate>(*again));
    header.base_sequence = {2};
    EXPECT_TRUE(state.prepare(header, std::nullopt, {.now = {0}}));
}

TEST(ProducerState, OnlyFiveBatchesAreRemembered) {
    ProducerState state;
    for (int i = 0; i < 6; ++i) {
        BatchHeader header;
        header.base_offset = {i};
        header.producer_id = {1};
        header.producer_epoch = {0};
        header.base_sequence = {i};
        state.commit(std::get<ProducerState::Update>(*state.prepare(header, std::nullopt, {.now = {0}})));
    }
    BatchHeader old;
    old.producer_id = {1};
    old.producer_epoch = {0};
    old.base_sequence = {0};
    EXPECT_EQ(state.prepare(old, std::nullopt, {.now = {0}}).error().failure, AppendFailure::out_of_order_sequence);
    old.base_sequence = {1};
    EXPECT_TRUE(state.prepare(old, std::nullopt, {.now = {0}}));
}

TEST(ProducerState, NewEpochStartsAtZeroAndIdleProducersExpire) {
    ProducerState state;
    BatchHeader header;
    header.producer_id = {1};
    header.producer_epoch = {0};
    header.base_sequence = {5};
    state.commit(std::get<ProducerState::Update>(*state.prepare(header, std::nullopt, {.now = {1000}})));
    header.producer_epoch = {1};
    EXPECT_FALSE(state.prepare(header, std::nullopt, {.now = {0}}));
    header.base_sequence = {0};
    EXPECT_TRUE(state.prepare(header, std::nullopt, {.now = {0}}));
    state.expire({1999}, 1000);
    EXPECT_EQ(state.size(), 1u);
    state.expire({2000}, 1000);
    EXPECT_TRUE(state.empty());
}

TEST(ProducerState, TheOldestOpenTransactionIsKnownWhateverBeginsAndEndsMeanwhile) {
    ProducerState state;
    const auto note = [&](std::int64_t id, Offset transaction_start) {
        ProducerEntry entry;
        entry.producer_id = {id};
        entry.current_transaction_start = transaction_start;
        return state.commit({entry, std::nullopt});
    };
    note(1, {10});
    note(2, {20});
    note(3, {30});
    note(2, kNoOffset);
    EXPECT_EQ(state.first_open_transaction(), Offset{10});
    const ProducerState::Undo end_of_first = note(1, kNoOffset);
    EXPECT_EQ(state.first_open_transaction(), Offset{30});
    note(2, {40});
    EXPECT_EQ(state.first_open_transaction(), Offset{30});
    state.restore(end_of_first);
    EXPECT_EQ(state.first_open_transaction(), Offset{10});
    note(1, {50});
    EXPECT_EQ(state.first_open_transaction(), Offset{30});
    note(3, kNoOffset);
    EXPECT_EQ(state.first_open_transaction(), Offset{40});
    note(2, kNoOffset);
    note(1, kNoOffset);
    EXPECT_EQ(state.first_open_transaction(), std::nullopt);
}

TEST(ProducerState, MoreProducersThanTheBoundForgetTheIdlest) {
    ProducerState state;
    for (std::size_t i = 0; i <= ProducerState::kMaximumProducers; ++i) {
        ProducerEntry entry;
        entry.producer_id = {static_cast<std::int64_t>(i)};
        entry.last_seen = {static_cast<std::int64_t>(i)};
        state.commit({entry, std::nullopt});
    }
    EXPECT_LE(state.size(), ProducerState::kMaximumProducers);
    EXPECT_EQ(state.find({0}), nullptr);
    EXPECT_NE(state.find({static_cast<std::int64_t>(ProducerState::kMaximumProducers)}), nullptr);
}

TEST(ProducerSnapshot, RoundTripsAndRefusesEveryFlippedBit) {
    ProducerEntry entry;
    entry.producer_id = {42};
    entry.producer_epoch = {3};
    entry.last_timestamp = {99};
    entry.add_batch({.last_sequence = {8}, .offset_delta = 2, .last_offset = {100}, .timestamp = {99}});
    auto bytes = encode_producer_snapshot({entry});
    auto decoded = decode_producer_snapshot(bytes);
    ASSERT_TRUE(decoded && decoded->size() == 1);
    EXPECT_EQ((*decoded)[0].batches[0], entry.batches[0]);
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        auto damaged = bytes;
        damaged[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
        EXPECT_FALSE(decode_producer_snapshot(damaged)) << bit;
    }
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(decode_producer_snapshot(Bytes(bytes).first(size)));
    }
}

TEST(Retention, DeletesOldestWhileExpiredOrTooMuch) {
    const auto segment = [](std::int64_t base, std::int64_t time, std::uint64_t size) {
        return SegmentSummary{{base}, {base + 10}, size, {time}, {time}};
    };
    const std::vector<SegmentSummary> log{segment(0, 100, 50), segment(10, 900, 50), segment(20, 200, 50)};
    LogConfig config = declared_log_config();
    config.retention_ms = 500;
    EXPECT_EQ(segments_to_delete(log, config, {1000}, {0}), 1u) << "a young segment shields what is behind it";
    config.retention_ms = -1;
    EXPECT_EQ(segments_to_delete(log, config, {1000}, {0}), 0u);
    config.retention_bytes = 100;
    EXPECT_EQ(segments_to_delete(log, config, {1000}, {0}), 1u);
    config.retention_bytes = 101;
    EXPECT_EQ(segments_to_delete(log, config, {1000}, {0}), 0u);
    config.delete_old_segments = false;
    config.retention_bytes = 0;
    EXPECT_EQ(segments_to_delete(log, config, {1000}, {20}), 2u) << "below the log start everything goes";
}

class LargeOffsetIndex : public ::testing::Test {
  protected:
    static constexpr std::int64_t kEntries = 5000;
    static constexpr std::int64_t kOffsetsApart = 10;

    LargeOffsetIndex() {
        for (OffsetIndex* index : {&index_, &other_}) {
            for (std::int64_t i = 1; i <= kEntries; ++i) {
                index->append({i * kOffsetsApart}, static_cast<std::uint32_t>(i));
            }
            EXPECT_TRUE(index->file().write_pending());
        }
    }
    static std::uint32_t position_of(std::int64_t offset) { return static_cast<std::uint32_t>(offset / kOffsetsApart); }

    MemoryFileSystem system_;
    OpenFiles files_{system_, 8};
    OffsetIndex index_{files_, "a.index", {0}};
    OffsetIndex other_{files_, "b.index", {0}};
};

TEST_F(LargeOffsetIndex, FindsTheSameWhateverWasLookedUpBefore) {
    std::mt19937_64 random(1);
    std::int64_t offset = 0;
    for (int i = 0; i < 5000; ++i) {
        // Readers mostly go on from where they were, and sometimes elsewhere.
        offset = random() % 4 == 0 ? static_cast<std::int64_t>(random() % (kEntries * kOffsetsApart + 100))
                                   : offset + static_cast<std::int64_t>(random() % (700 * kOffsetsApart)) - 50;
        offset = std::clamp<std::int64_t>(offset, 0, kEntries * kOffsetsApart + 100);
        const auto found = (random() % 2 == 0 ? index_ : other_).lookup({offset});
        ASSERT_TRUE(found);
        ASSERT_EQ(found->position, std::min(position_of(offset), static_cast<std::uint32_t>(kEntries))) << offset;
    }
}

TEST_F(LargeOffsetIndex, ReaderThatGoesOnNeedsOneRead) {
    ASSERT_TRUE(index_.lookup({20'000}));
    for (std::int64_t offset = 20'000; offset < 40'000; offset += 160) {
        const std::uint64_t before = system_.calls();
        const auto found = index_.lookup({offset});
        ASSERT_TRUE(found);
        EXPECT_EQ(found->position, position_of(offset));
        EXPECT_EQ(system_.calls() - before, 1u);
    }
}

TEST_F(LargeOffsetIndex, EndOfTheLastLookupMayBeCutOff) {
    ASSERT_TRUE(index_.lookup({kEntries * kOffsetsApart}));
    ASSERT_TRUE(index_.file().truncate(600));
    const auto found = index_.lookup({kEntries * kOffsetsApart});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->position, 600u);
}

TEST(LogFlusher, MergesRequestsOfManyWaiters) {
    StorageWorld world;
    auto log = world.shared_log();
    LogFlusher flusher(real_schedule().executor);
    std::atomic<int> done{0};
    for (int i = 0; i < 1000; ++i) {
        auto bytes = make_batch();
        ASSERT_TRUE(log->append(bytes, {}));
        const Offset end = log->log_end_offset();
        ASSERT_TRUE(flusher.request_sync(log, [&done, end](const StorageResult<Offset>& synced) {
            EXPECT_TRUE(synced && *synced >= end);
            ++done;
        }));
    }
    flusher.drain();
    EXPECT_EQ(done, 1000);
    EXPECT_EQ(log->recovery_point(), Offset{1000});
    EXPECT_LE(flusher.counters().syncs, flusher.counters().requests);
}

TEST(LogFlusher, FailureIsFinal) {
    StorageWorld world;
    auto log = world.shared_log();
    auto bytes = make_batch();
    ASSERT_TRUE(log->append(bytes, {}));
    LogFlusher flusher(real_schedule().executor);
    world.system.fail_call(1, EIO, true);
    std::atomic<int> failed{0};
    const auto count = [&failed](const StorageResult<Offset>& synced) { failed += synced ? 0 : 1; };
    ASSERT_TRUE(flusher.request_sync(log, count));
    flusher.drain();
    world.system.heal();
    ASSERT_TRUE(flusher.request_sync(log, count));
    flusher.drain();
    EXPECT_EQ(failed, 2);
    ASSERT_TRUE(flusher.failure());
    EXPECT_EQ(flusher.failure()->kind, StorageError::Kind::sync_failed);
}

TEST(OpenFiles, ThousandPartitionsWorkUnderFewDescriptors) {
    const std::string path = ::testing::TempDir() + "/partita-open-files";
    std::filesystem::remove_all(path);
    PosixFileSystem system;
    {
        OpenFiles files(system, 20);
        auto directory =
            LogDirectory::open(system, files, path, {.default_config = std::make_shared<const LogConfig>(declared_log_config())});
        ASSERT_TRUE(directory) << directory.error().message;
        auto topic = std::make_shared<LogTopic>(LogTopic{"many", {{1}}});
        auto config = std::make_shared<const LogConfig>(declared_log_config());
        std::vector<std::shared_ptr<PartitionLog>> logs;
        for (int i = 0; i < 1000; ++i) {
            logs.push_back(*(*directory)->claim(topic, PartitionIndex{i}, config));
        }
        EXPECT_EQ(files.open_count(), 0u);
        for (int round = 0; round < 2; ++round) {
            for (const auto& log : logs) {
                auto bytes = make_batch();
                auto done = log->append(bytes, {});
                ASSERT_TRUE(done) << done.error().message;
            }
        }
        EXPECT_LE(files.open_count(), 20u);
        auto held = logs[0]->read({0}, {.upper_bound = {2}});
        for (const auto& log : logs) {
            ASSERT_EQ(read_all(*log, {0}).find("error"), std::string::npos);
        }
        EXPECT_LE(files.open_count(), 20u);
        std::byte byte;
        EXPECT_TRUE(held->file->read_at(0, MutableBytes(&byte, 1))) << "a handle outlives its eviction";
        ASSERT_TRUE((*directory)->close());
    }
    OpenFiles files(system, 20);
    auto again =
        LogDirectory::open(system, files, path, {.default_config = std::make_shared<const LogConfig>(declared_log_config())});
    ASSERT_TRUE(again);
    EXPECT_EQ((*again)->unclaimed().size(), 1000u);
    again->reset();
    std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace partita::test
