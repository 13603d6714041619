// Random lives of one compacted partition against a model: keyed appends, tombstones, idempotent producers and transactions,
// cleanings with little memory, clean stops, kills and power losses. One more test lets the process or the machine die at each
// call of a cleaning to the file system.

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>

#include "storage/cleaning_rules.h"
#include "storage/keyed_log_reader.h"
#include "storage/log_cleaner.h"
#include "tests/support/storage_fixture.h"

namespace partita::test {
namespace {

constexpr std::int64_t kRetentionMs = 5000;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct ModelRecord {
    std::string key;
    std::optional<std::string> value;
    /// The earliest time when a cleaning could have met it.
    std::optional<std::int64_t> met_ms;
};

struct ModelBatch {
    Offset base;
    Offset last;
    ProducerId producer = kNoProducerId;
    bool is_transactional = false;
    /// Set for markers.
    std::optional<bool> commits;
    std::vector<ModelRecord> records;
};

using State = std::map<std::string, std::string>;

class CompactedLife {
  public:
    explicit CompactedLife(std::uint64_t seed) : random_(seed) {
        world_.config->compact = true;
        world_.config->delete_old_segments = false;
        world_.config->min_cleanable_dirty_ratio = 0;
        world_.config->delete_retention_ms = kRetentionMs;
        world_.config->segment_bytes = 300 + pick(1500);
        world_.config->index_interval_bytes = 50 + pick(300);
    }

    void step() {
        now_ += pick(700);
        switch (pick(14)) {
            case 0:
                return kill();
            case 1:
                return lose_power();
            case 2:
                return restart();
            case 3:
                return checkpoint();
            case 4:
            case 5:
                return clean();
            case 6:
                return end_transaction();
            case 7:
            case 8:
                return append(ProducerId{7}, false);
            case 9:
            case 10:
                return append(ProducerId{20 + pick(2)}, true);
            default:
                return append(kNoProducerId, false);
        }
    }

    void append(ProducerId producer, bool transactional) {
        constexpr Codec kCodecs[] = {Codec::none, Codec::none, Codec::lz4, Codec::zstd};
        BatchOptions options{.codec = kCodecs[pick(4)], .transactional = transactional};
        if (producer != kNoProducerId) {
            options.producer_id = producer;
            options.producer_epoch = ProducerEpoch{0};
            options.base_sequence = Sequence{sequences_[producer.value]};
        }
        BatchBuilder builder(options);
        ModelBatch batch{.producer = producer, .is_transactional = transactional};
        for (std::int64_t count = 1 + pick(4); count > 0; --count) {
            ModelRecord record{.key = "k" + std::to_string(pick(12))};
            if (pick(5) != 0) {
                record.value = std::to_string(random_()) + std::string(static_cast<std::size_t>(pick(60)), 'v');
            }
            builder.append({now_}, as_bytes(record.key),
                           record.value ? std::optional<Bytes>(as_bytes(*record.value)) : std::nullopt);
            batch.records.push_back(std::move(record));
        }
        std::vector<std::byte> bytes;
        builder.build(bytes);
        if (producer != kNoProducerId) {
            sequences_[producer.value] += static_cast<std::int32_t>(batch.records.size());
        }
        append_batch(std::move(batch), bytes);
    }

    void end_transaction() {
        const auto open = open_transactions();
        if (open.empty()) {
            return;
        }
        const ProducerId producer{*std::next(open.begin(), pick(std::ssize(open)))};
        const bool commits = pick(2) == 0;
        std::vector<std::byte> bytes;
        build_end_transaction_marker({commits ? ControlRecordType::commit : ControlRecordType::abort, 0}, {0}, epoch_, producer,
                                     {0}, {now_}, bytes);
        append_batch({.producer = producer, .is_transactional = true, .commits = commits}, bytes);
    }

    CleaningOptions cleaning_options() {
        CleaningOptions options{.now = {now_}};
        options.key_limits.memory_bytes = has_little_memory_ ? 24 * 16 : 1 << 20;
        options.key_limits.load_factor = has_little_memory_ ? 0.3 : 0.9;
        options.key_secrets = {{random_(), random_(), random_(), random_()}};
        options.write_bytes = static_cast<std::size_t>(1 + pick(2000));
        return options;
    }
    void note_meeting(Offset below) {
        for (ModelBatch& batch : batches_) {
            for (std::size_t i = 0; i < batch.records.size(); ++i) {
                auto& record = batch.records[i];
                if (!record.met_ms && batch.base + static_cast<std::int64_t>(i) < below) {
                    record.met_ms = now_;
                }
            }
        }
    }

    void clean() {
        has_little_memory_ = pick(3) == 0;
        ASSERT_TRUE(world_.directory->write_checkpoints());
        note_meeting(world_.log().active_segment_base());
        const auto cleaned = world_.log().clean(cleaning_options());
        ASSERT_TRUE(cleaned) << cleaned.error().message;
        synced_ = end_;
        check_everything();
        if (!has_little_memory_) {
            check_that_keys_are_unique_below(cleaned->clean_until);
        }
        if (pick(2) == 0) {
            ASSERT_TRUE(world_.directory->write_cleaner_checkpoint());
        }
    }

    /// Call number `n` of a cleaning and all later ones fail; then the process or the machine dies. False when the cleaning makes
    /// fewer calls.
    bool clean_and_die(std::uint64_t n, bool power) {
        note_meeting(world_.log().active_segment_base());
        const CleaningOptions options = cleaning_options();
        const auto synced = world_.log().sync();
        EXPECT_TRUE(synced);
        synced_ = end_;
        world_.system.fail_call(n, EIO, true);
        const bool is_done = world_.log().clean(options).has_value();
        const bool happened = world_.system.fault_happened();
        EXPECT_NE(is_done, happened);
        world_.system.heal();
        power ? lose_power() : kill();
        for (const std::string& file : world_.system.files_below("/data/t-0")) {
            EXPECT_EQ(file.find(".cleaned"), std::string::npos) << file;
            EXPECT_EQ(file.find(".swap"), std::string::npos) << file;
        }
        clean();
        return happened;
    }

    /// Call number `n` of a cleaning fails, and the process lives on. False when the cleaning makes fewer calls.
    bool clean_and_stumble(std::uint64_t n) {
        note_meeting(world_.log().active_segment_base());
        const CleaningOptions options = cleaning_options();
        world_.system.fail_call(n, ENOSPC);
        const auto cleaned = world_.log().clean(options);
        const bool happened = world_.system.fault_happened();
        world_.system.heal();
        if (!cleaned && cleaned.error().kind == StorageError::Kind::sync_failed) {
            kill();
        } else {
            check_everything();
            append(kNoProducerId, false);
            clean();
        }
        return happened;
    }

    void kill() {
        world_.kill();
        check_everything();
        check_producers();
    }
    void restart() {
        world_.restart_cleanly();
        synced_ = end_;
        check_everything();
        check_producers();
    }
    void checkpoint() {
        ASSERT_TRUE(world_.log().checkpoint());
        ASSERT_TRUE(world_.directory->write_checkpoints());
        synced_ = end_;
    }
    void lose_power() {
        world_.lose_power(random_());
        const Offset survived = world_.log().log_end_offset();
        ASSERT_GE(survived, synced_);
        ASSERT_LE(survived, end_);
        end_ = survived;
        while (!batches_.empty() && batches_.back().base >= end_) {
            batches_.pop_back();
        }
        sequences_.clear();
        for (const ModelBatch& batch : batches_) {
            if (batch.producer != kNoProducerId && !batch.commits) {
                sequences_[batch.producer.value] += static_cast<std::int32_t>(batch.records.size());
            }
        }
        ++epoch_.value;
        check_everything();
        check_producers();
    }

    void check_everything() {
        PartitionLog& log = world_.log();
        ASSERT_EQ(log.log_end_offset(), end_);
        ASSERT_EQ(log.log_start_offset(), Offset{0});
        check_records();
        State seen;
        KeyedLogReader reader(log, {0}, end_, {});
        while (true) {
            const auto more = reader.next_batch([&](const KeyedRecord& record) -> StorageResult<void> {
                if (record.in_open_transaction) {
                    return {};
                }
                const std::string key(as_text(record.key));
                if (record.value) {
                    seen[key] = as_text(*record.value);
                } else {
                    seen.erase(key);
                }
                return {};
            });
            ASSERT_TRUE(more) << more.error().message;
            if (!*more) {
                break;
            }
        }
        ASSERT_EQ(reader.position(), end_);
        ASSERT_EQ(seen, expected_state());
    }

  private:
    std::int64_t pick(std::int64_t below) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below)); }

    void append_batch(ModelBatch batch, std::vector<std::byte>& bytes) {
        auto done = world_.log().append(bytes, {.leader_epoch = epoch_, .now = {now_}});
        ASSERT_TRUE(done) << done.error().message;
        ASSERT_EQ(done->base_offset, end_);
        batch.base = done->base_offset;
        batch.last = done->last_offset;
        end_ = done->last_offset + 1;
        batches_.push_back(std::move(batch));
    }

    std::set<std::int64_t> open_transactions() const {
        std::set<std::int64_t> open;
        for (const ModelBatch& batch : batches_) {
            if (batch.commits) {
                open.erase(batch.producer.value);
            } else if (batch.is_transactional) {
                open.insert(batch.producer.value);
            }
        }
        return open;
    }

    /// Index: the batch. Whether its records happened: committed, or of no transaction.
    std::vector<std::optional<bool>> outcomes() const {
        std::vector<std::optional<bool>> outcomes(batches_.size());
        std::map<std::int64_t, bool> ended;
        for (std::size_t i = batches_.size(); i-- > 0;) {
            const ModelBatch& batch = batches_[i];
            if (batch.commits) {
                ended[batch.producer.value] = *batch.commits;
            } else if (!batch.is_transactional) {
                outcomes[i] = true;
            } else if (const auto found = ended.find(batch.producer.value); found != ended.end()) {
                outcomes[i] = found->second;
            }
        }
        return outcomes;
    }

    State expected_state() const {
        State state;
        const auto happened = outcomes();
        for (std::size_t i = 0; i < batches_.size(); ++i) {
            if (!happened[i].value_or(false)) {
                continue;
            }
            for (const ModelRecord& record : batches_[i].records) {
                if (record.value) {
                    state[record.key] = *record.value;
                } else {
                    state.erase(record.key);
                }
            }
        }
        return state;
    }

    /// Checks that each record in the log was appended there. Records that no cleaning met, and the last record of every key,
    /// must still be there.
    void check_records() {
        PartitionLog& log = world_.log();
        const std::string bytes = read_all(log, {0});
        BatchCursor cursor(as_bytes(bytes));
        std::map<std::int64_t, std::pair<std::string, std::optional<std::string>>> present;
        while (cursor.next()) {
            if (cursor.batch().header.attributes.is_control()) {
                continue;
            }
            ASSERT_TRUE(for_each_record(cursor.batch(), {}, [&](const RecordView& record) {
                present[record.offset.value] = {std::string(as_text(*record.key)),
                                                record.value ? std::optional(std::string(as_text(*record.value))) : std::nullopt};
            }));
        }
        ASSERT_EQ(cursor.position_bytes(), bytes.size());
        const auto happened = outcomes();
        std::map<std::string, std::int64_t> last_of_key;
        std::size_t known = 0;
        for (std::size_t i = 0; i < batches_.size(); ++i) {
            for (std::size_t k = 0; k < batches_[i].records.size(); ++k) {
                const ModelRecord& record = batches_[i].records[k];
                const std::int64_t offset = batches_[i].base.value + static_cast<std::int64_t>(k);
                const auto found = present.find(offset);
                if (found != present.end()) {
                    ++known;
                    ASSERT_EQ(found->second.first, record.key) << offset;
                    ASSERT_EQ(found->second.second, record.value) << offset;
                } else {
                    ASSERT_TRUE(record.met_ms) << "offset " << offset << " was never met by a cleaning";
                }
                if (happened[i].value_or(false)) {
                    last_of_key[record.key] = offset;
                }
            }
        }
        ASSERT_EQ(known, present.size());
        for (std::size_t i = 0; i < batches_.size(); ++i) {
            for (std::size_t k = 0; k < batches_[i].records.size(); ++k) {
                const ModelRecord& record = batches_[i].records[k];
                const std::int64_t offset = batches_[i].base.value + static_cast<std::int64_t>(k);
                if (!happened[i].value_or(false) || last_of_key[record.key] != offset || present.contains(offset)) {
                    continue;
                }
                ASSERT_FALSE(record.value) << "the last value of " << record.key << " is gone";
                ASSERT_GE(now_, *record.met_ms + kRetentionMs) << "a tombstone went too early";
            }
        }
    }

    void check_that_keys_are_unique_below(Offset clean_until) {
        const std::string bytes = read_all(world_.log(), {0});
        BatchCursor cursor(as_bytes(bytes));
        std::set<std::string> keys;
        const auto open = open_transactions();
        while (cursor.next()) {
            const BatchHeader& header = cursor.batch().header;
            if (header.attributes.is_control() ||
                (header.attributes.is_transactional() && open.contains(header.producer_id.value))) {
                continue;
            }
            ASSERT_TRUE(for_each_record(cursor.batch(), {}, [&](const RecordView& record) {
                if (record.offset >= clean_until) {
                    return;
                }
                EXPECT_TRUE(keys.insert(std::string(as_text(*record.key))).second) << record.offset.value;
            }));
        }
    }

    void check_producers() {
        for (const ProducerSummary& producer : world_.log().active_producers()) {
            const auto expected = sequences_.find(producer.producer_id.value);
            ASSERT_TRUE(expected != sequences_.end());
            if (producer.last_sequence.value >= 0) {
                ASSERT_EQ(producer.last_sequence.value + 1, expected->second) << producer.producer_id.value;
            }
        }
    }

    std::mt19937_64 random_;
    StorageWorld world_;
    std::vector<ModelBatch> batches_;
    std::map<std::int64_t, std::int32_t> sequences_;
    Offset end_{0};
    Offset synced_{0};
    LeaderEpoch epoch_{0};
    std::int64_t now_ = 10'000;
    bool has_little_memory_ = false;
};

TEST(Compaction, RandomLivesAgreeWithTheModel) {
    const std::uint64_t first = from_environment("FIRST_SEED", 1);
    const std::uint64_t seeds = from_environment("SEEDS", 150);
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        CompactedLife life(seed);
        for (int step = 0; step < 120; ++step) {
            life.step();
            if (testing::Test::HasFatalFailure() || testing::Test::HasNonfatalFailure()) {
                return;
            }
        }
    }
}

void fill(CompactedLife& life) {
    for (int step = 0; step < 40; ++step) {
        life.append(kNoProducerId, false);
        if (step % 4 == 0) {
            life.append(ProducerId{20}, true);
        }
        if (step % 8 == 0) {
            life.end_transaction();
        }
        if (step == 20) {
            life.clean();
        }
    }
}

void die_at_every_call(bool power) {
    for (std::uint64_t seed = 1; seed <= from_environment("SEEDS", 3); ++seed) {
        for (std::uint64_t n = 1;; ++n) {
            SCOPED_TRACE("seed " + std::to_string(seed) + " call " + std::to_string(n));
            CompactedLife life(seed);
            fill(life);
            if (testing::Test::HasFailure()) {
                return;
            }
            if (!life.clean_and_die(n, power)) {
                break;
            }
            if (testing::Test::HasFailure()) {
                return;
            }
            ASSERT_LT(n, 2000u);
        }
    }
}

TEST(Compaction, AProcessThatDiesAtAnyCallLosesNothing) { die_at_every_call(false); }

TEST(Compaction, AMachineThatDiesAtAnyCallLosesNothingThatWasSynced) { die_at_every_call(true); }

TEST(Compaction, AnyFailedCallLeavesALogThatCanBeReadAndCleaned) {
    for (std::uint64_t n = 1;; ++n) {
        SCOPED_TRACE("call " + std::to_string(n));
        CompactedLife life(5);
        fill(life);
        const bool happened = life.clean_and_stumble(n);
        if (testing::Test::HasFailure() || !happened) {
            return;
        }
        ASSERT_LT(n, 2000u);
    }
}

}  // namespace
}  // namespace partita::test
