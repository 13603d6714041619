#include <string>
#include <vector>

#include "storage/log_cleaner.h"
#include "storage/partition_log_state.h"
#include "storage/producer_snapshot.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/pieces.h"
#include "tests/support/legacy_writer.h"
#include "tests/support/storage_fixture.h"

/// Feeds the files of a partition as a start finds them, with any content. The start serves the good part and takes appends, and
/// the next start finds the same.
namespace {

using namespace partita;
using fuzz::Pieces;

constexpr std::string_view kDirectory = "/data/t-0/";
constexpr std::string_view kNames[] = {"00000000000000000000.index",    "00000000000000000000.timeindex",
                                       "00000000000000000002.snapshot", "00000000000000000000.txnindex",
                                       "leader-epoch-checkpoint",       "00000000000000000000.log"};

constexpr std::uint8_t kCleanBit = 1;
constexpr std::uint8_t kRecoveryPointBit = 2;
/// The append makes a new segment, and the old one is compacted.
constexpr std::uint8_t kCompactBit = 4;

/// True when a consumer can read the whole log.
bool is_readable(const PartitionLog& log) {
    const std::string all = test::read_all(log, log.log_start_offset());
    for (const std::string_view failure : {"error", "bad", "short", "empty"}) {
        if (all.starts_with(failure)) {
            return false;
        }
    }
    return true;
}

void append_one(PartitionLog& log) {
    const Offset end = log.log_end_offset();
    auto batch = test::make_batch();
    const auto appended = log.append(batch, {.leader_epoch = LeaderEpoch{INT32_MAX}, .now = {2}});
    FUZZ_CHECK(appended && appended->base_offset == end);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Pieces pieces(std::as_bytes(std::span(data, size)));
    const std::uint8_t flags = pieces.next_byte();
    test::StorageWorld world;
    world.config->index_interval_bytes = 64;
    if (flags & kCompactBit) {
        world.config->segment_bytes = 1;
    }
    world.vanish();
    world.system.crash_process();
    FUZZ_CHECK(world.system.make_directories("/data/t-0").has_value());
    // That of the last name: the log.
    Bytes log_content;
    for (const std::string_view name : kNames) {
        const Bytes content = pieces.next();
        log_content = content;
        if (!content.empty()) {
            world.system.set_content(std::string(kDirectory) + std::string(name), std::string(as_text(content)));
        }
    }
    if (flags & kCleanBit) {
        world.system.set_content("/data/.kafka_cleanshutdown", "");
    }
    if (flags & kRecoveryPointBit) {
        world.system.set_content("/data/recovery-point-offset-checkpoint", "0\n1\nt 0 3\n");
    }

    world.open();
    if (const auto& failed = world.directory->open_report().failed; !failed.empty()) {
        // It may be a format of tomorrow. Then every byte of the log stays.
        FUZZ_CHECK(failed[0].second.kind == StorageError::Kind::newer_format);
        FUZZ_CHECK(world.system.content(std::string(kDirectory) + std::string(kNames[std::size(kNames) - 1])) ==
                   as_text(log_content));
        return 0;
    }
    PartitionLog& log = world.log();
    FUZZ_CHECK(log.log_start_offset() >= Offset{0} && log.log_start_offset() <= log.log_end_offset());
    // Recovery does not check again what a clean stop or a recovery point vouched for.
    const bool is_checked = (flags & (kCleanBit | kRecoveryPointBit)) == 0;
    if (is_checked) {
        FUZZ_CHECK(is_readable(log));
    }
    (void)log.offset_for_timestamp({1000}, log.log_end_offset());
    (void)log.offset_of_max_timestamp();
    const auto aborted = log.aborted_transactions(log.log_start_offset(), log.log_end_offset());
    FUZZ_CHECK(aborted.has_value());
    for (const AbortedTransactionSummary& one : *aborted) {
        FUZZ_CHECK(one.first_offset < log.log_end_offset());
    }
    FUZZ_CHECK(log.last_stable_offset() >= log.log_start_offset() && log.last_stable_offset() <= log.log_end_offset());
    append_one(log);
    const Offset end = log.log_end_offset();
    if (flags & kCompactBit) {
        const auto cleaned = log.clean({.now = {5000}, .key_secrets = {{1, 2, 3, 4}}});
        FUZZ_CHECK(cleaned || cleaned.error().kind == StorageError::Kind::corrupt);
        FUZZ_CHECK(is_readable(log) || !is_checked);
    }
    world.kill();
    FUZZ_CHECK(world.log().log_end_offset() == end || !is_checked);
    append_one(world.log());
    return 0;
}

std::vector<std::vector<std::byte>> fuzz_seeds() {
    // A log as a stop leaves it, with everything in it: producers, an aborted transaction, several batches.
    test::StorageWorld world;
    world.config->index_interval_bytes = 64;
    world.vanish();
    world.system.crash_process();
    world.open();
    const auto append = [&](std::vector<std::byte> batch) {
        FUZZ_CHECK(world.log().append(batch, {.leader_epoch = {1}, .now = {1}}).has_value());
    };
    append(test::make_batch({.records = 2}));
    append(test::make_batch({.producer_id = {7}, .producer_epoch = {0}, .base_sequence = {0}}));
    append(test::make_batch({.producer_id = {8}, .producer_epoch = {0}, .base_sequence = {0}, .transactional = true}));
    std::vector<std::byte> marker;
    build_end_transaction_marker({ControlRecordType::abort, 3}, {0}, {0}, {8}, {0}, {1000}, marker);
    append(std::move(marker));
    FUZZ_CHECK(world.log().aborted_transactions({0}, {10}).value().size() == 1);
    append(test::make_batch({.codec = Codec::gzip}));
    FUZZ_CHECK(world.directory->close().has_value());

    // A log of an older Kafka, which has only that file.
    std::vector<std::byte> old;
    test::write_legacy({.magic = 0}, {{0, -1, "k", "v"}, {1, -1, std::nullopt, std::nullopt}}, old);
    test::write_legacy({.magic = 0, .codec = Codec::snappy}, {{2, -1, "k", "v"}, {3, -1, "k", "w"}}, old);
    test::write_legacy({.magic = 1, .codec = Codec::lz4}, {{4, 1000, "k", "v"}, {5, 2000, "k", "w"}}, old);
    test::write_legacy({.magic = 1}, {{6, 500, "k", "v"}}, old);

    std::vector<std::vector<std::byte>> seeds;
    for (const std::uint8_t flags : {std::uint8_t{0}, kCleanBit, kRecoveryPointBit, kCompactBit}) {
        std::vector<std::byte>& seed = seeds.emplace_back();
        seed.push_back(std::byte{flags});
        for (const std::string_view name : kNames) {
            Pieces::append(seed, as_bytes(world.system.content(std::string(kDirectory) + std::string(name))));
        }
        std::vector<std::byte>& of_old = seeds.emplace_back();
        of_old.push_back(std::byte{flags});
        for (const std::string_view name : kNames) {
            Pieces::append(of_old, name.ends_with(".log") ? Bytes(old) : Bytes());
        }
    }
    return seeds;
}
