// Tests what a log knows of the transactions in it: which are open, which were aborted, and where the log writes that down.

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "storage/aborted_transactions.h"
#include "storage/log_cleaner.h"
#include "tests/support/storage_fixture.h"

namespace partita::test {
namespace {

constexpr AppendContext kOfTransactions{.leader_epoch = {0}, .now = {1}};
constexpr KeyOffsets::Secrets kCleaningSecrets{{1, 2, 3, 4}};

std::vector<std::byte> marker_of(std::int64_t producer, ControlRecordType type, std::int16_t epoch = 0) {
    std::vector<std::byte> bytes;
    build_end_transaction_marker({type, 0}, {0}, {0}, {producer}, {epoch}, {1000}, bytes);
    return bytes;
}

class TransactionsInLogTest : public ::testing::Test {
  protected:
    static constexpr const char* kIndex = "/data/t-0/00000000000000000000.txnindex";

    void write(std::int64_t producer, int sequence, std::size_t value_bytes = 20) {
        auto bytes = make_batch({.value_bytes = value_bytes,
                                 .producer_id = {producer},
                                 .producer_epoch = {0},
                                 .base_sequence = {sequence},
                                 .transactional = true});
        ASSERT_TRUE(world.log().append(bytes, kOfTransactions));
    }
    void write_plain() {
        auto bytes = make_batch();
        ASSERT_TRUE(world.log().append(bytes, kOfTransactions));
    }
    void end(std::int64_t producer, ControlRecordType type) {
        auto bytes = marker_of(producer, type);
        ASSERT_TRUE(world.log().append(bytes, kOfTransactions));
    }
    void abort_one(std::int64_t producer, int sequence, std::size_t value_bytes = 20) {
        write(producer, sequence, value_bytes);
        end(producer, ControlRecordType::abort);
    }
    std::vector<std::int64_t> aborted_from(std::int64_t from, std::int64_t to) {
        std::vector<std::int64_t> firsts;
        const auto found = world.log().aborted_transactions({from}, {to});
        EXPECT_TRUE(found) << found.error().message;
        for (const auto& one : *found) {
            firsts.push_back(one.first_offset.value);
        }
        return firsts;
    }
    std::vector<AbortedTransaction> entries_of(const std::string& path) {
        const std::string content = world.system.content(path);
        std::vector<AbortedTransaction> entries;
        for (std::size_t at = 0; at < content.size(); at += AbortedTransaction::kEncodedBytes) {
            const auto entry = AbortedTransaction::decode(as_bytes(content).subspan(at));
            EXPECT_TRUE(entry);
            if (entry) {
                entries.push_back(*entry);
            }
        }
        return entries;
    }

    StorageWorld world;
};

// Two transactions end by one write. The entry of the first abort says up to where everything was decided then, and readers look
// no further.
TEST_F(TransactionsInLogTest, AnAbortTellsWhatIsUndecidedBehindItsMarker) {
    write(1, 0);                                           // 0
    write(2, 0);                                           // 1
    auto first = marker_of(2, ControlRecordType::abort);   // 2
    auto second = marker_of(1, ControlRecordType::abort);  // 3
    PartitionLog& log = world.log();
    ASSERT_TRUE(log.stage(first, kOfTransactions));
    ASSERT_TRUE(log.stage(second, kOfTransactions));
    log.flush_staged();
    ASSERT_TRUE(log.sync());
    EXPECT_EQ(entries_of(kIndex), (std::vector<AbortedTransaction>{{{2}, {1}, {2}, {0}}, {{1}, {0}, {3}, {4}}}));
    EXPECT_EQ(aborted_from(0, 1), (std::vector<std::int64_t>{0}));
    EXPECT_EQ(aborted_from(0, 2), (std::vector<std::int64_t>{1, 0}));
    EXPECT_EQ(aborted_from(3, 4), (std::vector<std::int64_t>{0}));
}

TEST_F(TransactionsInLogTest, FewAbortedTransactionsAreInMemoryHoweverRarelyTheLogIsSynced) {
    constexpr int kCount = static_cast<int>(AbortedIndex::kPendingMax) + 1000;
    for (int i = 0; i < kCount; ++i) {
        abort_one(1, i);
    }
    EXPECT_EQ(entries_of(kIndex).size(), AbortedIndex::kPendingMax);
    const auto all = [&] {
        for (const int i : {0, 1, 4095, 4096, kCount - 1}) {
            EXPECT_EQ(aborted_from(2 * i, 2 * i + 1), (std::vector<std::int64_t>{2 * i})) << i;
        }
        EXPECT_EQ(aborted_from(0, 2 * kCount).size(), static_cast<std::size_t>(kCount));
        EXPECT_TRUE(aborted_from(2 * kCount, 2 * kCount + 1).empty());
    };
    all();
    world.kill();
    all();
    world.restart_cleanly();
    EXPECT_EQ(entries_of(kIndex).size(), static_cast<std::size_t>(kCount));
    all();
}

TEST_F(TransactionsInLogTest, ADamagedIndexIsMadeAnewFromTheMarkers) {
    world.config->segment_bytes = 600;
    for (int i = 0; i < 12; ++i) {
        abort_one(1, i);
        if (i == 3) {
            write(2, 0);  // 8, open while the damaged segment is written
        }
    }
    end(2, ControlRecordType::abort);
    const auto expected = aborted_from(0, 100);
    ASSERT_EQ(expected.size(), 13u);
    std::vector<std::string> indexes;
    for (const std::string& path : world.system.files_below("/data/t-0")) {
        if (path.ends_with(".txnindex")) {
            indexes.push_back(path);
        }
    }
    for (const bool is_clean : {true, false}) {
        world.restart_cleanly();
        indexes.clear();
        for (const std::string& path : world.system.files_below("/data/t-0")) {
            if (path.ends_with(".txnindex")) {
                indexes.push_back(path);
            }
        }
        ASSERT_GE(indexes.size(), 3u);
        const auto whole = entries_of(indexes[1]);
        ASSERT_GE(whole.size(), 2u);
        for (int way = 0; way < 3; ++way) {
            if (is_clean) {
                ASSERT_TRUE(world.directory->close());
            }
            if (!is_clean) {
                ASSERT_TRUE(world.log().checkpoint());
                ASSERT_TRUE(world.directory->write_checkpoints());
            }
            world.vanish();
            world.system.crash_process();
            std::string content = world.system.content(indexes[1]);
            if (way == 0) {
                content[0] = 7;  // An unknown version.
            }
            if (way == 1) {
                content[18 + 34] ^= 0x40;  // An offset that lies elsewhere.
            }
            if (way == 2) {
                content.resize(34 + 5);  // Torn.
            }
            world.system.set_content(indexes[1], content);
            world.open();
            EXPECT_EQ(aborted_from(0, 100), expected) << way;
            EXPECT_EQ(entries_of(indexes[1]), whole) << way;
        }
    }
}

TEST_F(TransactionsInLogTest, WhatTheLogLostIsForgottenToo) {
    abort_one(1, 0);
    const std::size_t kept = world.system.content("/data/t-0/00000000000000000000.log").size();
    abort_one(1, 1);
    world.restart_cleanly();
    ASSERT_EQ(aborted_from(0, 100), (std::vector<std::int64_t>{0, 2}));
    ASSERT_TRUE(world.directory->close());
    world.vanish();
    world.system.set_content("/data/t-0/00000000000000000000.log",
                             world.system.content("/data/t-0/00000000000000000000.log").substr(0, kept));
    world.open();
    EXPECT_EQ(world.log().log_end_offset(), Offset{2});
    EXPECT_EQ(entries_of(kIndex).size(), 1u);
    write(2, 0);
    end(2, ControlRecordType::commit);
    EXPECT_EQ(aborted_from(0, 100), (std::vector<std::int64_t>{0}));
}

TEST_F(TransactionsInLogTest, AnIndexWithoutItsSegmentIsRemoved) {
    abort_one(1, 0);
    world.restart_cleanly();
    const std::string stray = "/data/t-0/00000000000000000777.txnindex";
    ASSERT_TRUE(world.directory->close());
    world.vanish();
    world.system.set_content(stray, world.system.content(kIndex));
    world.open();
    EXPECT_EQ(aborted_from(0, 1000), (std::vector<std::int64_t>{0}));
    EXPECT_FALSE(world.system.file_size(stray));
}

TEST_F(TransactionsInLogTest, IndexesGoWithTheirSegments) {
    world.config->segment_bytes = 600;
    for (int i = 0; i < 12; ++i) {
        abort_one(1, i);
    }
    ASSERT_TRUE(world.log().sync());
    ASSERT_TRUE(world.system.file_size(kIndex));
    ASSERT_TRUE(*world.log().delete_records_before({13}));
    EXPECT_FALSE(world.system.file_size(kIndex));
    EXPECT_EQ(aborted_from(13, 100), (std::vector<std::int64_t>{12, 14, 16, 18, 20, 22}));
    world.kill();
    EXPECT_EQ(aborted_from(13, 100), (std::vector<std::int64_t>{12, 14, 16, 18, 20, 22}));
}

TEST_F(TransactionsInLogTest, TheStableOffsetIsNeverBelowTheLogStart) {
    write_plain();
    write(1, 0);  // 1
    for (int i = 0; i < 4; ++i) {
        write_plain();
    }
    EXPECT_EQ(world.log().last_stable_offset(), Offset{1});
    ASSERT_TRUE(*world.log().delete_records_before({4}));
    EXPECT_EQ(world.log().last_stable_offset(), Offset{4}) << "the transaction is open still";
    write_plain();
    EXPECT_EQ(world.log().last_stable_offset(), Offset{4});
    ASSERT_TRUE(world.directory->write_checkpoints());
    world.kill();
    EXPECT_EQ(world.log().last_stable_offset(), Offset{4});
    ASSERT_TRUE(*world.log().delete_records_before({7}));
    EXPECT_EQ(world.log().last_stable_offset(), Offset{7});
    write(1, 1);
    EXPECT_EQ(world.log().last_stable_offset(), Offset{7});
    end(1, ControlRecordType::abort);
    EXPECT_EQ(world.log().last_stable_offset(), Offset{9});
    EXPECT_EQ(aborted_from(7, 8), (std::vector<std::int64_t>{1}));
}

TEST_F(TransactionsInLogTest, TheStableOffsetWaitsForAMarkerThatIsStagedWhateverIsDeleted) {
    write_plain();
    write(1, 0);  // 1
    write_plain();
    auto marker = marker_of(1, ControlRecordType::abort);
    const auto staged = world.log().stage(marker, kOfTransactions);
    ASSERT_TRUE(staged);
    // No entry could tell readers yet that the transaction is aborted.
    ASSERT_TRUE(*world.log().delete_records_before({1}));
    EXPECT_EQ(world.log().last_stable_offset(), Offset{1});
    EXPECT_TRUE(aborted_from(1, 3).empty());
    world.log().flush_staged();
    ASSERT_TRUE(staged->result());
    EXPECT_EQ(world.log().last_stable_offset(), Offset{4});
    EXPECT_EQ(aborted_from(1, 3), (std::vector<std::int64_t>{1}));
}

TEST_F(TransactionsInLogTest, RetentionMovesTheStableOffsetAlong) {
    world.config->segment_bytes = 600;
    world.config->retention_ms = 1000;
    write(1, 0);
    for (int i = 0; i < 20; ++i) {
        write_plain();
    }
    ASSERT_EQ(world.log().last_stable_offset(), Offset{0});
    ASSERT_TRUE(world.log().apply_retention({1'000'000}));
    EXPECT_EQ(world.log().log_start_offset(), Offset{21});
    EXPECT_EQ(world.log().last_stable_offset(), Offset{21});
}

TEST_F(TransactionsInLogTest, AnOpenTransactionIsNeverForgotten) {
    write_plain();
    write(1, 0);
    ASSERT_TRUE(world.log().checkpoint());
    ASSERT_TRUE(world.directory->write_checkpoints());
    for (int i = 0; i < 5; ++i) {
        write_plain();
    }
    world.log().expire_producers({1'000'000'000'000});
    EXPECT_EQ(world.log().last_stable_offset(), Offset{1});
    world.kill();
    EXPECT_EQ(world.log().last_stable_offset(), Offset{1});
    world.restart_cleanly();
    EXPECT_EQ(world.log().last_stable_offset(), Offset{1});
    world.lose_power(3);
    EXPECT_EQ(world.log().last_stable_offset(), Offset{1});
    world.log().expire_producers({1'000'000'000'000});
    end(1, ControlRecordType::commit);
    EXPECT_EQ(world.log().last_stable_offset(), world.log().high_watermark());
    EXPECT_TRUE(aborted_from(0, 100).empty());
}

TEST_F(TransactionsInLogTest, AnAbortSurvivesAPowerFailureOnceItsMarkerDoes) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        StorageWorld other;
        auto data = make_batch({.producer_id = {1}, .producer_epoch = {0}, .base_sequence = {0}, .transactional = true});
        auto marker = marker_of(1, ControlRecordType::abort);
        ASSERT_TRUE(other.log().append(data, kOfTransactions) && other.log().append(marker, kOfTransactions));
        if (seed % 2 == 0) {
            ASSERT_TRUE(other.log().checkpoint());
            ASSERT_TRUE(other.directory->write_checkpoints());
        } else {
            ASSERT_TRUE(other.log().sync());
        }
        other.lose_power(seed);
        ASSERT_EQ(other.log().log_end_offset(), Offset{2});
        EXPECT_EQ(other.log().aborted_transactions({0}, {2}).value().size(), 1u) << seed;
    }
}

TEST_F(TransactionsInLogTest, CleaningKeepsAnAbortUntilNothingIsLeftOfItsTransaction) {
    world.config->compact = true;
    world.config->delete_old_segments = false;
    world.config->segment_bytes = 400;
    world.config->delete_retention_ms = 100;
    abort_one(1, 0);  // 0, 1
    write(2, 0);      // 2
    for (int i = 0; i < 3; ++i) {
        write_plain();
    }
    end(2, ControlRecordType::abort);  // 6
    for (int i = 0; i < 3; ++i) {
        write_plain();
    }
    abort_one(1, 1);  // 10, 11
    for (int i = 0; i < 6; ++i) {
        write_plain();
    }
    const auto dirty = [&] {
        // A cleaning has no effect without new segments.
        for (int i = 0; i < 6; ++i) {
            write_plain();
        }
    };
    const auto clean = [&](std::int64_t now) {
        const auto done = world.log().clean({.now = {now}, .key_secrets = kCleaningSecrets});
        EXPECT_TRUE(done) << done.error().message;
    };
    // The cleaner takes a log only after its first checkpoint.
    ASSERT_TRUE(world.log().checkpoint());
    ASSERT_TRUE(world.directory->write_checkpoints());
    clean(1000);
    EXPECT_EQ(aborted_from(0, 100), (std::vector<std::int64_t>{0, 2, 10}));
    dirty();
    clean(2000);  // The batches are gone, but for the last ones of producers: the first marker gets its horizon.
    EXPECT_EQ(aborted_from(0, 100), (std::vector<std::int64_t>{0, 2, 10}));
    world.kill();
    EXPECT_EQ(aborted_from(0, 100), (std::vector<std::int64_t>{0, 2, 10}));
    dirty();
    clean(2099);
    EXPECT_EQ(aborted_from(0, 100), (std::vector<std::int64_t>{0, 2, 10}));
    dirty();
    clean(2100);
    EXPECT_EQ(aborted_from(0, 100), (std::vector<std::int64_t>{2, 10})) << "the last batches of both producers are there still";
    world.restart_cleanly();
    EXPECT_EQ(aborted_from(0, 100), (std::vector<std::int64_t>{2, 10}));
    // The log has forgotten the producers.
    world.log().expire_producers({1'000'000'000'000});
    for (const std::int64_t now : {3000, 4000, 5000}) {
        dirty();
        clean(now);
    }
    EXPECT_TRUE(aborted_from(0, 100).empty());
    world.kill();
    EXPECT_TRUE(aborted_from(0, 100).empty());
}

TEST_F(TransactionsInLogTest, ACleaningStopsAtTheOldestOpenTransaction) {
    world.config->compact = true;
    world.config->segment_bytes = 200;
    for (int i = 0; i < 6; ++i) {
        write_plain();
    }
    write(1, 0);  // 6
    for (int i = 0; i < 20; ++i) {
        write_plain();
    }
    const auto done = world.log().clean({.now = {1000}, .key_secrets = kCleaningSecrets});
    ASSERT_TRUE(done);
    EXPECT_EQ(done->clean_until, Offset{6});
}

// Runs the same through the log, where a client's batch, the answer of its coordinator and the marker of an abort meet.
TEST_F(TransactionsInLogTest, AMarkerThatOvertakesAnAnswerLeavesNothingOpen) {
    PartitionLog& log = world.log();
    const auto batch_of = [](int sequence) {
        return make_batch({.producer_id = {1}, .producer_epoch = {0}, .base_sequence = {sequence}, .transactional = true});
    };
    auto batch = batch_of(0);
    const auto header = *parse_batch_header(batch);
    const auto verification = log.begin_verification(header, false, {1}).value();
    ASSERT_TRUE(verification);
    // The coordinator says yes. Before the log hears it, the transaction times out and its marker is written.
    end(1, ControlRecordType::abort);
    auto late = kOfTransactions;
    late.verification = *verification;
    const auto refused = log.stage(batch, late);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().failure, AppendFailure::invalid_transaction_state);
    EXPECT_EQ(log.last_stable_offset(), log.high_watermark());
    // A marker in the same write as the batch ends the transaction that the batch began.
    late.verification = log.begin_verification(header, false, {1}).value();
    auto abort = marker_of(1, ControlRecordType::abort);
    ASSERT_TRUE(log.stage(batch, late));
    ASSERT_TRUE(log.stage(abort, kOfTransactions));
    auto next = batch_of(1);
    const auto after = log.stage(next, late);
    ASSERT_FALSE(after) << "the answer was for the transaction that has ended";
    log.flush_staged();
    EXPECT_EQ(log.last_stable_offset(), log.high_watermark());
    EXPECT_EQ(aborted_from(0, 100), (std::vector<std::int64_t>{1}));
}

// A coordinator ends transactions as fast as it can, while a producer asks it and writes. In any order, the log has no open
// transaction that the coordinator does not know.
TEST_F(TransactionsInLogTest, NoInterleavingLeavesATransactionOpenForGood) {
    PartitionLog& log = world.log();
    std::mutex coordinator;
    bool is_open = false;
    std::atomic<bool> is_over = false;
    std::atomic<int> answered = 0;
    std::atomic<int> written = 0;
    int hung = 0;
    std::thread ending([&] {
        for (int round = 0; round < 400; ++round) {
            // Ends the transaction right after the answer that it is open, or right after a write.
            const std::atomic<int>& awaited = round % 2 == 0 ? answered : written;
            const int before = awaited;
            {
                const std::scoped_lock lock(coordinator);
                is_open = true;
            }
            for (int i = 0; i < 2000 && awaited == before; ++i) {
                std::this_thread::yield();
            }
            const std::scoped_lock lock(coordinator);
            is_open = false;
            auto marker = marker_of(1, ControlRecordType::abort);
            EXPECT_TRUE(log.append(marker, kOfTransactions));
            // After this marker, answers from before it must not count: whatever the producer begins with one of them, it begins
            // in vain.
            if (log.last_stable_offset() != log.high_watermark()) {
                ++hung;
            }
        }
        is_over = true;
    });
    int overtaken = 0;
    while (!is_over) {
        auto batch = make_batch({.producer_id = {1}, .producer_epoch = {0}, .base_sequence = {written}, .transactional = true});
        auto context = kOfTransactions;
        const auto verification = log.begin_verification(*parse_batch_header(batch), false, {1});
        ASSERT_TRUE(verification);
        if (!*verification) {
            std::this_thread::yield();
            continue;  // One batch is enough.
        }
        context.verification = *verification;
        {
            const std::scoped_lock lock(coordinator);
            if (!is_open) {
                continue;
            }
            ++answered;
        }
        for (int i = 0; i < answered % 4; ++i) {
            std::this_thread::yield();
        }
        if (log.append(batch, context)) {
            ++written;
        } else {
            ++overtaken;
        }
    }
    ending.join();
    EXPECT_EQ(hung, 0);
    EXPECT_EQ(log.last_stable_offset(), log.high_watermark());
    RecordProperty("written", written);
    RecordProperty("overtaken", overtaken);
}

TEST_F(TransactionsInLogTest, ABatchThatCouldNotBeWrittenOpensNothing) {
    write_plain();
    PartitionLog& log = world.log();
    auto batch = make_batch({.producer_id = {1}, .producer_epoch = {0}, .base_sequence = {0}, .transactional = true});
    auto context = kOfTransactions;
    context.verification = log.begin_verification(*parse_batch_header(batch), true, {1}).value();
    ASSERT_TRUE(context.verification);
    world.system.fail_write(".log", ENOSPC);
    EXPECT_FALSE(log.append(batch, context));
    EXPECT_EQ(log.last_stable_offset(), log.high_watermark());
    ASSERT_TRUE(log.append(batch, context)) << "the question stands";
    EXPECT_EQ(log.last_stable_offset(), Offset{1});
}

TEST_F(TransactionsInLogTest, AFencedProducerIsToldSoWhateverItAsked) {
    PartitionLog& log = world.log();
    auto newer = make_batch({.producer_id = {1}, .producer_epoch = {2}, .base_sequence = {0}});
    ASSERT_TRUE(log.append(newer, kOfTransactions));
    auto batch = make_batch({.producer_id = {1}, .producer_epoch = {1}, .base_sequence = {0}, .transactional = true});
    const auto asked = log.begin_verification(*parse_batch_header(batch), true, {1});
    ASSERT_FALSE(asked) << "nobody has to be asked";
    EXPECT_EQ(asked.error().failure, AppendFailure::invalid_producer_epoch);
    auto context = kOfTransactions;
    context.verification = kNotVerified;
    const auto refused = log.stage(batch, context);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().failure, AppendFailure::invalid_producer_epoch);
}

}  // namespace
}  // namespace partita::test
