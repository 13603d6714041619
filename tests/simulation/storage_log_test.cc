// Random lives of one partition log against a model: appends, reads, rolls, syncs, deletions, clean stops, kills and power
// losses, on a file system that forgets what was not synced. Another test plays the same life with the Nth call to the file
// system refused, for every N.

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "tests/support/storage_fixture.h"

namespace partita::test {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct ModelBatch {
    Offset base;
    Offset last;
    TimestampMs timestamp;
    std::string bytes;
};

class LogLife {
  public:
    explicit LogLife(std::uint64_t seed) : random_(seed) {
        world_.config->segment_bytes = 300 + pick(3000);
        world_.config->index_interval_bytes = 50 + pick(500);
        if (pick(3) == 0) {
            world_.config->segment_ms = 50 + pick(500);
        }
        if (pick(4) == 0) {
            world_.config->segment_index_bytes = 12 * (1 + pick(6));
        }
    }

    void step() {
        switch (pick(16)) {
            case 0:
                return sync();
            case 1:
                return checkpoint();
            case 2:
                return delete_records();
            case 3:
                return retain();
            case 4:
                return kill();
            case 5:
                return lose_power();
            case 6:
                return restart();
            case 7:
            case 8:
                return read_somewhere();
            case 9:
                return look_up_time();
            default:
                return append();
        }
    }
    void check_everything() {
        const PartitionLog& log = world_.log();
        ASSERT_EQ(log.log_end_offset(), end_);
        ASSERT_TRUE(read_all(log, log.log_start_offset()) == bytes_from(log.log_start_offset()));
    }

  private:
    std::int64_t pick(std::int64_t below) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below)); }

    std::string bytes_from(Offset from) const {
        std::string all;
        for (const ModelBatch& batch : batches_) {
            if (batch.last >= from) {
                all += batch.bytes;
            }
        }
        return all;
    }

    void append() {
        const auto count = static_cast<std::size_t>(1 + pick(4));
        std::vector<std::vector<std::byte>> batches;
        std::vector<StagedAppend> staged;
        std::vector<TimestampMs> times;
        for (std::size_t i = 0; i < count; ++i) {
            times.push_back({1000 + pick(1000)});
            const bool idempotent = pick(3) == 0;
            batches.push_back(make_batch({.records = static_cast<int>(1 + pick(4)),
                                          .value_bytes = static_cast<std::size_t>(pick(300)),
                                          .timestamp = times.back(),
                                          .producer_id = idempotent ? ProducerId{5} : kNoProducerId,
                                          .producer_epoch = {0},
                                          .base_sequence = idempotent ? sequence_ : Sequence{-1},
                                          .content = random_()}));
            auto done = world_.log().stage(batches.back(), {.leader_epoch = epoch_, .now = {2000}});
            ASSERT_TRUE(done) << done.error().message;
            ASSERT_FALSE(done->duplicate);
            if (idempotent) {
                last_of_producer_ = done->base_offset;
            }
            if (idempotent) {
                sequence_.value += static_cast<std::int32_t>(done->last_offset - done->base_offset) + 1;
            }
            staged.push_back(*done);
        }
        world_.log().flush_staged(pick(2) == 0 ? WriteBreadth::many : WriteBreadth::few);
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_TRUE(staged[i].result());
            ASSERT_EQ(staged[i].base_offset, end_);
            end_ = staged[i].last_offset + 1;
            batches_.push_back({staged[i].base_offset, staged[i].last_offset, times[i], std::string(as_text(Bytes(batches[i])))});
        }
    }

    void read_somewhere() {
        const PartitionLog& log = world_.log();
        if (log.log_start_offset() == end_) {
            return;
        }
        const Offset from = log.log_start_offset() + pick(end_ - log.log_start_offset());
        const auto limit = static_cast<std::uint32_t>(pick(2000));
        auto slice = log.read(from, {.upper_bound = end_, .max_bytes = limit, .minimum_one_batch = pick(2) == 0});
        ASSERT_TRUE(slice) << slice.error().message;
        if (slice->size == 0) {
            return;
        }
        std::string bytes(slice->size, 0);
        ASSERT_TRUE(slice->file->read_at(slice->position, std::as_writable_bytes(std::span(bytes))));
        ASSERT_LE(slice->size, std::max(limit, slice->first_batch_size));
        ASSERT_TRUE(bytes == bytes_from(from).substr(0, bytes.size()));
    }

    void look_up_time() {
        const PartitionLog& log = world_.log();
        const TimestampMs target{1000 + pick(1000)};
        auto found = log.offset_for_timestamp(target, end_);
        ASSERT_TRUE(found) << found.error().message;
        std::optional<Offset> expected;
        for (const ModelBatch& batch : batches_) {
            if (expected || batch.last < log.log_start_offset() || batch.timestamp < target) {
                continue;
            }
            expected = std::max(batch.base, log.log_start_offset());
        }
        ASSERT_EQ(found->has_value(), expected.has_value());
        if (expected) {
            ASSERT_EQ((*found)->offset, *expected);
        }
    }

    void sync() {
        auto synced = world_.log().sync();
        ASSERT_TRUE(synced) << synced.error().message;
        if (world_.log().has_files()) {
            synced_ = end_;
        }
    }

    void checkpoint() {
        ASSERT_TRUE(world_.log().checkpoint());
        ASSERT_TRUE(world_.directory->write_checkpoints());
        if (world_.log().has_files()) {
            synced_ = end_;
        }
    }

    void delete_records() {
        PartitionLog& log = world_.log();
        const Offset at = log.log_start_offset() + pick(end_ - log.log_start_offset() + 1);
        ASSERT_TRUE(*log.delete_records_before(at));
        ASSERT_EQ(log.log_start_offset(), at);
    }

    void retain() {
        world_.config->retention_bytes = 2000;
        ASSERT_TRUE(world_.log().apply_retention({2000}));
        world_.config->retention_bytes = -1;
        check_everything();
    }

    /// The log knows the producer, with exactly its last batch, as long as that batch is there.
    void check_producer() {
        const PartitionLog& log = world_.log();
        if (last_of_producer_ < log.log_start_offset() || last_of_producer_ >= end_) {
            return;
        }
        const auto producers = log.active_producers();
        ASSERT_EQ(producers.size(), 1u);
        ASSERT_EQ(producers[0].last_sequence.value, sequence_.value - 1);
    }

    void kill() {
        world_.kill();
        check_everything();
        check_producer();
        if (pick(4) == 0) {
            ++epoch_.value;
        }
    }

    void restart() {
        world_.restart_cleanly();
        ASSERT_TRUE(world_.directory->open_report().was_clean);
        if (world_.log().has_files()) {
            synced_ = end_;
            ASSERT_EQ(world_.report().cut_bytes, 0u);
            ASSERT_EQ(world_.report().scanned_bytes, 0u);
        }
        check_everything();
        check_producer();
    }

    void lose_power() {
        world_.lose_power(random_());
        const Offset survived = world_.log().log_end_offset();
        ASSERT_GE(survived, synced_);
        ASSERT_LE(survived, end_);
        end_ = survived;
        synced_ = std::min(synced_, end_);
        while (!batches_.empty() && batches_.back().base >= end_) {
            batches_.pop_back();
        }
        if (!batches_.empty()) {
            ASSERT_LT(batches_.back().last, end_) << "whole batches survive";
        }
        check_everything();
        check_producer();
        // The log has lost what the producer believes it sent. The producer starts anew, as a client does.
        const auto producers = world_.log().active_producers();
        sequence_ = producers.empty() ? Sequence{0} : Sequence{producers[0].last_sequence.value + 1};
        if (last_of_producer_ >= end_) {
            last_of_producer_ = kNoOffset;
        }
        ++epoch_.value;
    }

    std::mt19937_64 random_;
    StorageWorld world_;
    std::vector<ModelBatch> batches_;
    Offset end_{0};
    Offset synced_{0};
    LeaderEpoch epoch_{0};
    Sequence sequence_{0};
    /// Base offset of its last batch.
    Offset last_of_producer_ = kNoOffset;
};

TEST(StorageLog, RandomLivesAgreeWithTheModel) {
    const std::uint64_t first = from_environment("FIRST_SEED", 1);
    const std::uint64_t count = from_environment("SEEDS", 10'000);
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        LogLife life(seed);
        for (int i = 0; i < 30; ++i) {
            ASSERT_NO_FATAL_FAILURE(life.step()) << "FIRST_SEED=" << seed << " SEEDS=1, step " << i;
            ASSERT_FALSE(::testing::Test::HasFailure()) << "FIRST_SEED=" << seed << " SEEDS=1, step " << i;
        }
        ASSERT_NO_FATAL_FAILURE(life.check_everything());
    }
}

/// A short life that touches everything and remembers the acknowledgements. Calls may fail at any point.
class FaultyLife {
  public:
    explicit FaultyLife(StorageWorld& world) : world_(world) {
        world_.config->segment_bytes = 700;
        world_.config->index_interval_bytes = 100;
    }
    void run() {
        for (int i = 0; i < 12; ++i) {
            append();
            if (i % 4 == 3) {
                (void)world_.log().sync();
            }
            if (i == 6) {
                (void)world_.log().checkpoint();
                (void)world_.directory->write_checkpoints();
            }
            if (i == 8) {
                (void)world_.log().delete_records_before({2});
            }
        }
        (void)world_.directory->close();
    }
    void append() {
        auto bytes = make_batch({.value_bytes = 150,
                                 .producer_id = {5},
                                 .producer_epoch = {0},
                                 .base_sequence = {next_},
                                 .content = static_cast<std::uint64_t>(next_)});
        auto done = world_.log().append(bytes, {.leader_epoch = {0}, .now = {1}});
        if (!done) {
            return;
        }
        // After an unclear failure, the log may know the repeated batch already.
        if (!done->duplicate) {
            acknowledged_ += as_text(Bytes(bytes));
        }
        ++next_;
    }
    const std::string& acknowledged() const { return acknowledged_; }
    int next() const { return next_; }

  private:
    StorageWorld& world_;
    std::string acknowledged_;
    int next_ = 0;
};

void fault_at_every_call(int error_number, bool forever, bool only_growing) {
    bool reached = true;
    for (std::uint64_t n = 1; reached; ++n) {
        ASSERT_LT(n, 2000u);
        StorageWorld world;
        FaultyLife life(world);
        world.system.fail_call(n, error_number, forever, only_growing);
        life.run();
        reached = world.system.fault_happened();
        world.system.heal();
        const std::string where = "call " + std::to_string(n) + " errno " + std::to_string(error_number);
        // The process dies, whatever it had closed by then; the next one must find everything acknowledged.
        world.kill();
        ASSERT_TRUE(world.directory->open_report().failed.empty()) << where;
        PartitionLog& log = world.log();
        const std::string found = read_all(log, log.log_start_offset());
        std::string expected = life.acknowledged();
        // An append that failed in the middle of its write may have survived as a whole, as its outcome was unknown. It may lie
        // only behind everything that was acknowledged.
        const std::size_t skipped = expected.size() - std::min(expected.size(), found.size());
        if (log.log_start_offset() == Offset{0}) {
            ASSERT_TRUE(found.starts_with(expected)) << where;
        } else {
            ASSERT_NE(found.find(expected.substr(std::max<std::size_t>(skipped, 1000))), std::string::npos) << where;
        }
        // The log takes further records.
        const Offset before = log.log_end_offset();
        auto bytes = make_batch();
        ASSERT_TRUE(log.append(bytes, {.leader_epoch = {0}, .now = {1}})) << where;
        ASSERT_EQ(log.log_end_offset(), before + 1) << where;
        ASSERT_TRUE(log.sync()) << where;
    }
}

TEST(StorageLog, OneInputOutputErrorAnywhereLosesNothingAcknowledged) { fault_at_every_call(EIO, false, false); }
TEST(StorageLog, FullDiskAnywhereLosesNothingAcknowledged) { fault_at_every_call(ENOSPC, true, true); }
TEST(StorageLog, OneRefusedGrowthAnywhereLosesNothingAcknowledged) { fault_at_every_call(ENOSPC, false, true); }

TEST(StorageLog, FaultsDuringRecoveryNeverLoseDataNorPassForAClean) {
    bool reached = true;
    for (std::uint64_t n = 1; reached; ++n) {
        ASSERT_LT(n, 2000u);
        StorageWorld world;
        FaultyLife life(world);
        for (int i = 0; i < 10; ++i) {
            life.append();
        }
        // This makes a torn tail, so that recovery has something to do.
        std::string newest;
        for (const std::string& file : world.system.files_below("/data/t-0")) {
            if (file.ends_with(".log")) {
                newest = std::max(newest, file);
            }
        }
        world.system.set_content(newest, world.system.content(newest) + "torn");
        world.vanish();
        world.system.crash_process();
        world.files = std::make_unique<OpenFiles>(world.system, 8);
        world.system.fail_call(n, ENOSPC, true);
        const bool opened = world.try_open().has_value();
        if (opened) {
            (void)world.directory->close();
        }
        reached = world.system.fault_happened();
        world.system.heal();
        world.kill();
        ASSERT_TRUE(world.directory->open_report().failed.empty()) << "call " << n;
        ASSERT_EQ(read_all(world.log(), {0}), life.acknowledged()) << "call " << n;
    }
}

}  // namespace
}  // namespace partita::test
