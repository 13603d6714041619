#include "storage/keyed_log_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>

#include "storage/keyed_log_reader.h"
#include "tests/support/storage_fixture.h"

namespace partita {
namespace {

using test::StorageWorld;
using ::testing::HasSubstr;

using Model = std::map<std::string, std::string>;
using Record = std::pair<std::string, std::optional<std::string>>;

std::vector<std::byte> keyed_batch(const std::vector<Record>& records, BatchOptions options = {}) {
    BatchBuilder builder(options);
    for (const auto& [key, value] : records) {
        builder.append(TimestampMs{1000}, as_bytes(key), value ? std::optional<Bytes>(as_bytes(*value)) : std::nullopt);
    }
    std::vector<std::byte> bytes;
    builder.build(bytes);
    return bytes;
}

void apply(Model& model, const std::string& key, const std::optional<std::string>& value) {
    if (value) {
        model[key] = *value;
    } else {
        model.erase(key);
    }
}

/// A log on a memory file system and a store in a temporary directory.
class KeyedLogCheckpoint : public ::testing::Test {
  protected:
    KeyedLogCheckpoint() {
        std::string pattern = (std::filesystem::temp_directory_path() / "keyed-log-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) {
            std::abort();
        }
        directory_ = pattern;
        open_store();
    }
    ~KeyedLogCheckpoint() override {
        store.reset();
        std::filesystem::remove_all(directory_);
    }
    void open_store() {
        store.reset();
        auto opened = MetadataStore::open(directory_ + "/metadata", {.map_size_bytes = 1 << 20});
        ASSERT_TRUE(opened.has_value()) << opened.error().message;
        store = std::move(*opened);
    }
    void append(int partition, const std::vector<Record>& records, BatchOptions options = {}) {
        std::vector<std::byte> batch = keyed_batch(records, options);
        const auto appended = world.log(partition).append(batch, {.now = {1000}});
        ASSERT_TRUE(appended.has_value()) << appended.error().message;
    }
    StorageResult<KeyedFoldReport> fold(std::initializer_list<int> partitions, const KeyedLogOptions& options = {}) {
        std::vector<std::shared_ptr<PartitionLog>> logs;
        for (const int partition : partitions) {
            logs.push_back(world.shared_log(partition));
        }
        return fold_keyed_logs(logs, *store, options);
    }
    Model replay(int partition, const KeyedLogOptions& options = {}) {
        Model model;
        const auto replayed = replay_keyed_log(
            world.log(partition), *store,
            [&](const KeyedRecord& record) -> StorageResult<void> {
                apply(model, std::string(as_text(record.key)),
                      record.value ? std::optional<std::string>(as_text(*record.value)) : std::nullopt);
                return {};
            },
            options);
        EXPECT_TRUE(replayed.has_value()) << replayed.error().message;
        if (replayed) {
            last_report = *replayed;
        }
        return model;
    }

    std::string directory_;
    StorageWorld world;
    std::unique_ptr<MetadataStore> store;
    KeyedReplayReport last_report;
};

TEST_F(KeyedLogCheckpoint, ReplayIsCheckpointThenTail) {
    append(0, {{"a", "1"}, {"b", "1"}, {"c", "1"}});
    append(0, {{"a", "2"}, {"b", std::nullopt}});
    const auto folded = fold({0});
    ASSERT_TRUE(folded.has_value());
    EXPECT_EQ(folded->records, 5u);
    EXPECT_EQ(folded->changes, 3u);
    EXPECT_EQ(folded->logs.at(0).folded_until, Offset{5});
    append(0, {{"c", std::nullopt}, {"d", "3"}});
    EXPECT_EQ(replay(0), (Model{{"a", "2"}, {"d", "3"}}));
    EXPECT_EQ(last_report.checkpoint_rows, 2u);
    EXPECT_EQ(last_report.tail_records, 2u);
    EXPECT_EQ(last_report.tail_start, Offset{5});
    EXPECT_EQ(last_report.tail_end, Offset{7});
}

TEST_F(KeyedLogCheckpoint, NothingNewMeansNoTransaction) {
    append(0, {{"a", "1"}});
    ASSERT_TRUE(fold({0, 1}).has_value());
    const auto again = fold({0, 1});
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->transactions, 0u);
    EXPECT_EQ(again->logs.at(0).folded_until, Offset{1});
}

TEST_F(KeyedLogCheckpoint, ManyLogsShareATransactionAndMemoryIsBounded) {
    for (int partition = 0; partition < 5; ++partition) {
        for (int batch = 0; batch < 10; ++batch) {
            append(partition, {{"k" + std::to_string(batch), std::string(1000, 'v')}});
        }
    }
    const auto together = fold({0, 1});
    ASSERT_TRUE(together.has_value());
    EXPECT_EQ(together->transactions, 1u);
    const auto in_parts = fold({2, 3, 4}, {.read_bytes = 512, .held_bytes = 3000});
    ASSERT_TRUE(in_parts.has_value());
    EXPECT_GE(in_parts->transactions, 7u);
    for (int partition = 0; partition < 5; ++partition) {
        EXPECT_EQ(replay(partition).size(), 10u);
        EXPECT_EQ(last_report.tail_records, 0u);
    }
}

TEST_F(KeyedLogCheckpoint, FoldSyncsTheLogFirst) {
    append(0, {{"a", "1"}});
    EXPECT_EQ(world.log(0).recovery_point(), Offset{0});
    ASSERT_TRUE(fold({0}).has_value());
    EXPECT_EQ(world.log(0).recovery_point(), Offset{1});
    world.lose_power(7);
    EXPECT_EQ(world.log(0).log_end_offset(), Offset{1});
    replay(0);
    EXPECT_EQ(last_report.rewound_records, 0);
}

TEST_F(KeyedLogCheckpoint, StoreAheadOfTheLogKeepsWhatItKnowsAndFoldsAnew) {
    append(0, {{"a", "1"}, {"b", "1"}});
    const std::string name = keyed_log_name(world.log(0));
    ASSERT_TRUE(fold({0}).has_value());
    // A disk that lied: the store knows three records more than the log.
    const KeyedChange more{as_bytes("c"), as_bytes("5")};
    ASSERT_TRUE(store->fold(LogFold{name, {&more, 1}, Offset{5}}).has_value());
    EXPECT_EQ(replay(0), (Model{{"a", "1"}, {"b", "1"}, {"c", "5"}}));
    EXPECT_EQ(last_report.rewound_records, 3);
    append(0, {{"c", "6"}});
    EXPECT_EQ(replay(0), (Model{{"a", "1"}, {"b", "1"}, {"c", "6"}}));
    EXPECT_EQ(last_report.rewound_records, 0);
    ASSERT_TRUE(fold({0}).has_value());
    EXPECT_EQ(replay(0).at("c"), "6");
}

TEST_F(KeyedLogCheckpoint, LogMayLoseWhatWasFoldedButNotMore) {
    for (int batch = 0; batch < 4; ++batch) {
        append(0, {{"k" + std::to_string(batch), "1"}});
    }
    ASSERT_TRUE(fold({0}).has_value());
    append(0, {{"k9", "1"}});
    ASSERT_TRUE(world.log(0).delete_records_before(Offset{4}).value());
    EXPECT_EQ(replay(0).size(), 5u);
    append(0, {{"k10", "1"}});
    ASSERT_TRUE(world.log(0).delete_records_before(Offset{5}).value());
    const auto refuse = [](const KeyedRecord&) -> StorageResult<void> { return {}; };
    const auto replayed = replay_keyed_log(world.log(0), *store, refuse);
    ASSERT_FALSE(replayed.has_value());
    EXPECT_EQ(replayed.error().kind, StorageError::Kind::corrupt);
    EXPECT_THAT(replayed.error().message, HasSubstr("ends at offset 4 and the log begins at 5"));
    EXPECT_FALSE(fold({0}).has_value());
    EXPECT_EQ(replay(0, {.accept_missing_history = true}).size(), 5u);
}

TEST_F(KeyedLogCheckpoint, DamagedTailIsAnErrorNotAShorterTruth) {
    append(0, {{"a", "1"}});
    append(0, {{"b", "1"}});
    const std::string path = world.log(0).directory_path() + "/00000000000000000000.log";
    std::string content = world.system.content(path);
    content[keyed_batch({{"a", "1"}}).size() + 65] ^= 1;
    world.system.set_content(path, content);
    const auto visit = [](const KeyedRecord&) -> StorageResult<void> { return {}; };
    const auto replayed = replay_keyed_log(world.log(0), *store, visit);
    ASSERT_FALSE(replayed.has_value());
    EXPECT_THAT(replayed.error().message, HasSubstr("offset 1 is damaged: wrong checksum"));
    EXPECT_FALSE(fold({0}).has_value());
}

TEST_F(KeyedLogCheckpoint, VisitorsErrorStopsTheReplay) {
    append(0, {{"a", "1"}, {"b", "1"}});
    int seen = 0;
    const auto replayed = replay_keyed_log(world.log(0), *store, [&](const KeyedRecord&) -> StorageResult<void> {
        ++seen;
        return std::unexpected(StorageError{StorageError::Kind::newer_format, 0, "not for me"});
    });
    ASSERT_FALSE(replayed.has_value());
    EXPECT_EQ(replayed.error().message, "not for me");
    EXPECT_EQ(seen, 1);
}

std::vector<std::byte> end_marker(ProducerId producer, bool commit) {
    BatchBuilder builder({.producer_id = producer, .producer_epoch = {0}, .transactional = true, .control = true});
    const std::string key("\0\0\0", 3);
    const std::string value(6, '\0');
    builder.append(TimestampMs{1000}, as_bytes(key + (commit ? '\1' : '\0')), as_bytes(value));
    std::vector<std::byte> bytes;
    builder.build(bytes);
    return bytes;
}

BatchOptions transactional(std::int64_t producer, std::int32_t sequence) {
    return {.producer_id = {producer}, .producer_epoch = {0}, .base_sequence = {sequence}, .transactional = true};
}

TEST_F(KeyedLogCheckpoint, TransactionsCountWhenDecided) {
    append(0, {{"aborted", "1"}}, transactional(1, 0));
    append(0, {{"committed", "1"}}, transactional(2, 0));
    for (const auto& [producer, commit] : {std::pair{1, false}, std::pair{2, true}}) {
        std::vector<std::byte> marker = end_marker({producer}, commit);
        ASSERT_TRUE(world.log(0).append(marker, {.now = {1000}}).has_value());
    }
    append(0, {{"open", "1"}}, transactional(1, 1));
    append(0, {{"plain", "1"}});
    const auto folded = fold({0});
    ASSERT_TRUE(folded.has_value());
    EXPECT_EQ(folded->logs.at(0).folded_until, Offset{4});
    std::map<std::string, bool> open_by_key;
    ASSERT_TRUE(replay_keyed_log(world.log(0), *store, [&](const KeyedRecord& record) -> StorageResult<void> {
                    open_by_key[std::string(as_text(record.key))] = record.in_open_transaction;
                    return {};
                }).has_value());
    EXPECT_EQ(open_by_key, (std::map<std::string, bool>{{"committed", false}, {"open", true}, {"plain", false}}));
}

TEST_F(KeyedLogCheckpoint, AReaderHoldsTheAbortedTransactionsOfOneReadAlone) {
    constexpr int kRounds = 300;
    constexpr std::uint32_t kReadBytes = 512;
    constexpr std::size_t kProducers = 3;
    const auto end = [&](std::int64_t producer, bool commit) {
        std::vector<std::byte> marker = end_marker({producer}, commit);
        ASSERT_TRUE(world.log(0).append(marker, {.now = {1000}}).has_value());
    };
    for (int round = 0; round < kRounds; ++round) {
        append(0, {{"aborted in the end", "1"}}, transactional(1, round));
        append(0, {{"aborted", "1"}}, transactional(2, round));
        append(0, {{"committed " + std::to_string(round), "1"}}, transactional(3, round));
        end(2, false);
        end(3, true);
    }
    end(1, false);
    ASSERT_EQ(world.log(0).aborted_transactions({0}, world.log(0).log_end_offset())->size(), kRounds + 1U);

    KeyedLogReader reader(world.log(0), {0}, world.log(0).log_end_offset(), {.read_bytes = kReadBytes});
    std::vector<std::string> keys;
    std::size_t most_held = 0;
    const auto visit = [&](const KeyedRecord& record) -> StorageResult<void> {
        keys.emplace_back(as_text(record.key));
        most_held = std::max(most_held, reader.held_transactions());
        return {};
    };
    for (auto more = reader.next_batch(visit); *more; more = reader.next_batch(visit)) {
        ASSERT_TRUE(more);
    }
    ASSERT_EQ(keys.size(), static_cast<std::size_t>(kRounds));
    for (int round = 0; round < kRounds; ++round) {
        EXPECT_EQ(keys[static_cast<std::size_t>(round)], "committed " + std::to_string(round));
    }
    EXPECT_GE(most_held, 1U);
    EXPECT_LE(most_held, kReadBytes / kBatchHeaderBytes + kProducers);
}

/// Random appends, folds, kills and power cuts. The replayed state is always what the log and the store together say, and a kill
/// loses nothing that was acknowledged.
TEST_F(KeyedLogCheckpoint, EqualsAMapUnderRandomCrashes) {
    const char* text = std::getenv("SEEDS");
    const std::uint64_t seeds = text == nullptr ? 15 : std::strtoull(text, nullptr, 10);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        store.reset();
        std::filesystem::remove_all(directory_ + "/metadata");
        open_store();
        world.vanish();
        world.system.crash_process();
        ASSERT_TRUE(remove_recursively(world.system, "/data").has_value());
        // Otherwise a power cut could bring the directory of another seed back, beside a new store.
        ASSERT_TRUE(world.system.sync_directory("/").has_value());
        world.open();
        // The state after each offset, since a power cut may take the log back to any of them.
        std::vector<Model> history{{}};
        for (int step = 0; step < 60; ++step) {
            switch (random() % 8) {
                default: {
                    std::vector<Record> records;
                    for (std::uint64_t record = 0; record <= random() % 4; ++record) {
                        Record change{"k" + std::to_string(random() % 12), std::nullopt};
                        if (random() % 4 != 0) {
                            change.second = std::to_string(random() % 1000);
                        }
                        records.push_back(change);
                        history.push_back(history.back());
                        apply(history.back(), change.first, change.second);
                    }
                    append(0, records);
                    break;
                }
                case 4:
                    ASSERT_TRUE(fold({0}, {.read_bytes = 200, .held_bytes = random() % 2 ? 1 : 1u << 20}).has_value());
                    break;
                case 5:
                    world.kill();
                    open_store();
                    break;
                case 6: {
                    const auto folded = store->folded_until(keyed_log_name(world.log(0)));
                    world.lose_power(random());
                    open_store();
                    const Offset end = world.log(0).log_end_offset();
                    ASSERT_GE(end, folded->value_or(Offset{0})) << "the store was ahead of the log";
                    history.resize(static_cast<std::size_t>(end.value) + 1);
                    break;
                }
                case 7:
                    if (const auto folded = store->folded_until(keyed_log_name(world.log(0))); *folded) {
                        ASSERT_TRUE(world.log(0).delete_records_before(**folded).has_value());
                        ASSERT_TRUE(world.directory->write_checkpoints().has_value());
                    }
                    break;
            }
            ASSERT_EQ(replay(0), history.back()) << "step " << step;
            ASSERT_EQ(last_report.rewound_records, 0);
        }
    }
}

}  // namespace
}  // namespace partita
