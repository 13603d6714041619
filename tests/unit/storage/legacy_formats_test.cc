// Logs with entries of the message formats 0 and 1. The answers are those that Apache Kafka 4.3.1 gave over the same files.

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "storage/log_cleaner.h"
#include "storage/partition_log_state.h"
#include "tests/support/legacy_writer.h"
#include "tests/support/storage_fixture.h"

namespace partita::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kT = 1'500'000'000'000;
constexpr KeyOffsets::Secrets kCleaningSecrets{{1, 2, 3, 4}};

std::string text(const std::vector<std::byte>& bytes) { return std::string(as_text(bytes)); }

std::string old_entries(const LegacyFormat& format, const std::vector<LegacyWritten>& records) {
    return text(legacy_bytes(format, records));
}

std::string batch_of(std::int64_t base, Codec codec, const std::vector<LegacyWritten>& records) {
    BatchBuilder builder({.base_offset = {base}, .partition_leader_epoch = {0}, .codec = codec});
    for (const LegacyWritten& record : records) {
        const auto bytes = [](const std::optional<std::string>& text) {
            return text ? std::optional<Bytes>(as_bytes(*text)) : std::nullopt;
        };
        builder.append_at(static_cast<std::int32_t>(record.offset - base), {record.timestamp}, bytes(record.key),
                          bytes(record.value));
    }
    std::vector<std::byte> out;
    builder.build(out);
    return text(out);
}

std::vector<LegacyWritten> numbered(std::int64_t first, std::int64_t count, std::int64_t timestamp) {
    std::vector<LegacyWritten> records;
    for (std::int64_t i = 0; i < count; ++i) {
        records.push_back({first + i, timestamp < 0 ? -1 : timestamp + i, "k", "v" + std::to_string(first + i)});
    }
    return records;
}

/// Every codec of both formats, then format 2: offsets 0 to 29.
std::string mixed_log() {
    return old_entries({.magic = 0}, numbered(0, 2, -1)) + old_entries({.magic = 0, .codec = Codec::gzip}, numbered(2, 3, -1)) +
           old_entries({.magic = 0, .codec = Codec::snappy}, numbered(5, 3, -1)) +
           old_entries({.magic = 0, .codec = Codec::lz4}, numbered(8, 3, -1)) + old_entries({.magic = 1}, numbered(11, 2, kT)) +
           old_entries({.magic = 1, .codec = Codec::gzip}, numbered(13, 3, kT + 100)) +
           old_entries({.magic = 1, .codec = Codec::snappy}, numbered(16, 3, kT + 200)) +
           old_entries({.magic = 1, .codec = Codec::lz4}, numbered(19, 3, kT + 300)) +
           old_entries({.magic = 1, .codec = Codec::gzip, .log_append_time = kT + 400}, numbered(22, 3, kT + 5)) +
           old_entries({.magic = 1, .log_append_time = kT + 410}, numbered(25, 1, kT + 5)) +
           batch_of(26, Codec::lz4, numbered(26, 3, kT + 500)) + batch_of(29, Codec::none, numbered(29, 1, kT + 600));
}

/// An entry with this offset whose last byte is not the one that was written.
std::string rotten_at(const LegacyFormat& format, std::int64_t offset) {
    std::string entry = old_entries(format, numbered(offset, 1, kT));
    entry.back() ^= 1;
    return entry;
}

std::string segment_name(std::int64_t base) { return "/data/t-0/" + segment_file_name({base}, ".log"); }

class LegacyFormats : public ::testing::Test {
  protected:
    LegacyFormats() { world.config->retention_ms = -1; }

    struct File {
        std::int64_t base = 0;
        std::string content;
        std::int64_t modified = -1;
    };
    /// Opens a directory that another broker left, with these segments.
    void open(const std::vector<File>& files, bool is_clean = false) {
        ASSERT_TRUE(place(files, is_clean));
        world.open();
        ASSERT_TRUE(world.directory->open_report().failed.empty()) << world.directory->open_report().failed[0].second.message;
    }
    StorageResult<void> place(const std::vector<File>& files, bool is_clean = false) {
        world.vanish();
        world.system.crash_process();
        for (const std::string& old : world.system.files_below("/data")) {
            PARTITA_TRY(world.system.remove(old));
        }
        PARTITA_TRY(world.system.make_directories("/data/t-0"));
        for (const File& file : files) {
            world.system.set_content(segment_name(file.base), file.content);
            PARTITA_TRY(world.system.set_modified(segment_name(file.base), {file.modified}));
        }
        if (is_clean) {
            world.system.set_content("/data/.kafka_cleanshutdown", "");
        }
        world.files = std::make_unique<OpenFiles>(world.system, 8);
        return {};
    }
    std::int64_t offset_at(std::int64_t time) {
        const auto found = world.log().offset_for_timestamp({time}, world.log().log_end_offset());
        EXPECT_TRUE(found) << found.error().message;
        return found && *found ? (*found)->offset.value : -1;
    }
    std::int64_t offset_of_newest() {
        const auto found = world.log().offset_of_max_timestamp();
        EXPECT_TRUE(found) << found.error().message;
        return found && *found ? (*found)->offset.value : -1;
    }
    StorageWorld world;
};

TEST_F(LegacyFormats, AMixedLogIsServedByteForByteAfterEveryKindOfStop) {
    const std::string content = mixed_log();
    for (const std::int64_t interval : {1, 100, 4096}) {
        world.config->index_interval_bytes = interval;
        for (const bool is_clean : {false, true}) {
            open({{0, content}}, is_clean);
            for (const char* stop : {"none", "kill", "clean"}) {
                if (stop == std::string_view("kill")) {
                    world.kill();
                } else if (stop == std::string_view("clean")) {
                    world.restart_cleanly();
                }
                ASSERT_EQ(world.report().cut_bytes, 0u) << world.report().cut_reason;
                ASSERT_EQ(world.log().log_end_offset(), Offset{30});
                ASSERT_EQ(read_all(world.log(), {0}), content) << interval << is_clean << stop;
                ASSERT_EQ(world.system.content(segment_name(0)), content);
            }
        }
    }
}

TEST_F(LegacyFormats, AReadFromWithinACompressedEntryBeginsWithTheEntry) {
    world.config->index_interval_bytes = 1;
    open({{0, mixed_log()}});
    for (std::int64_t offset = 0; offset < 30; ++offset) {
        const auto slice = world.log().read({offset}, {.upper_bound = {30}, .max_bytes = 1, .minimum_one_batch = true});
        ASSERT_TRUE(slice) << slice.error().message;
        std::vector<std::byte> bytes(slice->size);
        ASSERT_TRUE(slice->file->read_at(slice->position, bytes));
        const auto batch = parse_log_batch(bytes);
        ASSERT_TRUE(batch && check_crc(*batch)) << offset;
        EXPECT_EQ(batch->bytes.size(), bytes.size());
        bool is_there = false;
        ASSERT_TRUE(for_each_record(*batch, {},
                                    [&](const RecordView& record) { is_there = is_there || record.offset == Offset{offset}; }));
        EXPECT_TRUE(is_there) << offset;
    }
}

TEST_F(LegacyFormats, OffsetsByTimeAreThoseOfKafka) {
    for (const std::int64_t interval : {1, 4096}) {
        world.config->index_interval_bytes = interval;
        open({{0, mixed_log()}});
        for (const auto& [time, offset] : {std::pair{kT - 100'000'000'000, 11},
                                           {kT, 11},
                                           {kT + 1, 12},
                                           {kT + 102, 15},
                                           {kT + 400, 22},
                                           {kT + 401, 25},
                                           {kT + 600, 29},
                                           {kT + 601, -1}}) {
            EXPECT_EQ(offset_at(time), offset) << time;
        }
        EXPECT_EQ(offset_of_newest(), 29);
        const auto found = world.log().offset_for_timestamp({kT + 101}, {30});
        ASSERT_TRUE(found && *found);
        EXPECT_EQ((*found)->timestamp, TimestampMs{kT + 101});
        EXPECT_EQ((*found)->leader_epoch, kNoLeaderEpoch);
    }
}

// Kafka takes the time of a file for that of its records if they have none, and looks no further.
TEST_F(LegacyFormats, ASegmentWithoutTimesEndsASearchByItsFileTime) {
    open({{0, old_entries({.magic = 0}, numbered(0, 5, -1)), kT - 100'000},
          {5, old_entries({.magic = 1, .codec = Codec::gzip}, numbered(5, 3, kT)) +
                  old_entries({.magic = 1}, numbered(8, 2, kT + 1000))},
          {10, batch_of(10, Codec::none, numbered(10, 2, kT + 2000))}});
    for (const auto& [time, offset] : {std::pair{kT - 100'000'000'000, -1},
                                       {kT - 100'000, -1},
                                       {kT - 99'999, 5},
                                       {kT, 5},
                                       {kT + 1, 6},
                                       {kT + 102, 8},
                                       {kT + 1001, 9},
                                       {kT + 2000, 10},
                                       {kT + 3000, -1}}) {
        EXPECT_EQ(offset_at(time), offset) << time;
    }
    EXPECT_EQ(offset_of_newest(), 11);
    open({{0, old_entries({.magic = 0}, numbered(0, 5, -1)), kT}});
    EXPECT_EQ(offset_at(kT - 1), -1);
    EXPECT_EQ(offset_of_newest(), -1);
}

TEST_F(LegacyFormats, NewRecordsFollowOldOnes) {
    open({{0, old_entries({.magic = 0, .codec = Codec::gzip}, numbered(0, 5, -1))}});
    auto batch = make_batch({.records = 2, .timestamp = {kT}});
    ASSERT_TRUE(world.log().append(batch, {.leader_epoch = {3}, .now = {kT}}));
    EXPECT_EQ(world.log().log_end_offset(), Offset{7});
    EXPECT_EQ(offset_at(kT), 5);
    EXPECT_EQ(world.log().leader_epoch_at({4}), kNoLeaderEpoch);
    EXPECT_EQ(world.log().leader_epoch_at({5}), LeaderEpoch{3});
    const std::string all = read_all(world.log(), {0});
    world.kill();
    EXPECT_EQ(read_all(world.log(), {0}), all);
    EXPECT_EQ(world.log().log_end_offset(), Offset{7});
}

TEST_F(LegacyFormats, RetentionCountsFromTheFileTimeWhereRecordsHaveNone) {
    const std::int64_t now = kT + 1'000'000'000'000;
    world.config->retention_ms = 7'000;
    const std::vector<File> files = {{0, old_entries({.magic = 0}, numbered(0, 3, -1)), kT},
                                     {3, old_entries({.magic = 1, .codec = Codec::gzip}, numbered(3, 3, kT)), now},
                                     {6, old_entries({.magic = 0}, numbered(6, 2, -1)), now - 1'000},
                                     {8, batch_of(8, Codec::none, numbered(8, 1, now)), now}};
    for (const bool restarts : {false, true}) {
        open(files);
        if (restarts) {
            world.kill();
            world.restart_cleanly();
        }
        const auto deleted = world.log().apply_retention({now});
        ASSERT_TRUE(deleted) << deleted.error().message;
        EXPECT_EQ(deleted->size(), 2u);
        EXPECT_EQ(world.log().log_start_offset(), Offset{6}) << "its file is young";
        const auto later = world.log().apply_retention({now + 6'001});
        ASSERT_TRUE(later);
        EXPECT_EQ(world.log().log_start_offset(), Offset{8});
    }
}

TEST_F(LegacyFormats, ATornEntryIsCutAtEveryByte) {
    for (const LegacyFormat& format :
         {LegacyFormat{.magic = 0}, LegacyFormat{.magic = 1}, LegacyFormat{.magic = 1, .codec = Codec::lz4}}) {
        const std::string first = old_entries(format, numbered(0, 2, kT));
        const std::string last = old_entries(format, numbered(2, 1, kT));
        for (std::size_t size = 0; size < last.size(); ++size) {
            open({{0, first + last.substr(0, size)}});
            ASSERT_EQ(world.log().log_end_offset(), Offset{2}) << size;
            ASSERT_EQ(world.system.content(segment_name(0)), first) << size;
            ASSERT_TRUE(world.report().set_aside.empty()) << size;
        }
    }
}

TEST_F(LegacyFormats, GoodEntriesBehindABadOneAreSetAside) {
    const std::string one = old_entries({.magic = 0}, {{0, -1, "a", "1"}});
    const std::string two = old_entries({.magic = 1}, {{1, kT, "b", "2"}});
    const std::string three = old_entries({.magic = 0}, {{2, -1, std::nullopt, std::nullopt}});
    ASSERT_EQ(three.size(), 26u) << "the smallest entry, at the very end";
    // No checksum covers the offset.
    for (std::size_t at = sizeof(std::int64_t); at < two.size(); ++at) {
        std::string damaged = two;
        damaged[at] ^= 0x40;
        open({{0, one + damaged + three}});
        ASSERT_EQ(world.log().log_end_offset(), Offset{1}) << at;
        ASSERT_EQ(world.report().set_aside.size(), 1u) << at;
        EXPECT_EQ(world.system.content("/data/t-0/" + world.report().set_aside[0]), damaged + three) << at;
    }
}

TEST_F(LegacyFormats, ADamagedMagicOfABatchIsNoOldEntryWhetherTrustedOrNot) {
    const std::string one = batch_of(0, Codec::none, numbered(0, 1, kT));
    std::string two = batch_of(1, Codec::none, numbered(1, 1, kT));
    const std::string three = batch_of(2, Codec::none, numbered(2, 1, kT));
    for (int magic = 0; magic < 256; ++magic) {
        if (magic == 2) {
            continue;
        }
        two[16] = static_cast<char>(magic);
        for (const bool is_clean : {false, true}) {
            open({{0, one + two + three}}, is_clean);
            ASSERT_EQ(world.log().log_end_offset(), Offset{1}) << magic << is_clean;
            ASSERT_EQ(world.report().set_aside.size(), 1u) << magic;
            // Alone, and at the end, it is the same damage.
            open({{0, two}}, is_clean);
            ASSERT_EQ(world.log().log_end_offset(), Offset{0}) << magic;
            ASSERT_EQ(world.report().set_aside.size(), 1u) << magic;
        }
    }
}

// Not even at the end of a segment, where nothing follows that speaks against a later format.
TEST_F(LegacyFormats, ADamagedMagicOfAnOldEntryIsNoLaterFormatWhetherTrustedOrNot) {
    for (const LegacyFormat& format :
         {LegacyFormat{.magic = 0}, LegacyFormat{.magic = 1}, LegacyFormat{.magic = 1, .codec = Codec::gzip}}) {
        const std::string one = old_entries(format, numbered(0, 1, kT));
        const std::string three = old_entries(format, numbered(2, 1, kT));
        std::string two = old_entries(format, {{1, kT, "k", std::string(100, 'v')}});
        for (int magic = 0; magic < 256; ++magic) {
            two[16] = static_cast<char>(magic);
            for (const bool is_clean : {false, true}) {
                if (is_clean && magic == 2) {
                    continue;  // A clean start believes any header of format 2 whose offsets may follow.
                }
                // The headers of the two old formats are alike, and a clean start looks at no more.
                const bool is_whole = magic == format.magic || (is_clean && magic < 2);
                for (const std::string& behind : {three, std::string()}) {
                    open({{0, one + two + behind}}, is_clean);
                    const std::int64_t whole_end = behind.empty() ? 2 : 3;
                    ASSERT_EQ(world.log().log_end_offset(), Offset{is_whole ? whole_end : 1}) << magic << is_clean;
                    ASSERT_EQ(world.report().set_aside.size(), is_whole ? 0u : 1u) << magic << is_clean;
                }
                open({{1, two}}, is_clean);
                ASSERT_EQ(world.log().log_end_offset(), Offset{is_whole ? 2 : 1}) << magic << is_clean;
                ASSERT_EQ(world.report().set_aside.size(), is_whole ? 0u : 1u) << magic << is_clean;
            }
        }
    }
}

// Kafka reads no records after a clean stop, and serves such an entry as it is.
TEST_F(LegacyFormats, ARottenOldEntryBelowTheTrustedEndStaysWithAllThatFollows) {
    for (const LegacyFormat& format :
         {LegacyFormat{.magic = 0}, LegacyFormat{.magic = 1}, LegacyFormat{.magic = 1, .codec = Codec::gzip}}) {
        const std::string good = old_entries(format, numbered(0, 2, kT));
        const std::string rotten = rotten_at(format, 2);
        const std::string behind = batch_of(3, Codec::none, numbered(3, 1, kT)) + old_entries(format, numbered(4, 1, kT));
        const std::vector<File> files = {{0, good + rotten + behind},
                                         {5, old_entries(format, numbered(5, 2, kT)) + rotten_at(format, 7)},
                                         {8, batch_of(8, Codec::none, numbered(8, 1, kT)) + rotten_at(format, 9)}};
        for (const char* stop : {"clean", "clean again", "kill behind the recovery point"}) {
            if (stop == std::string_view("clean")) {
                open(files, true);
            } else if (stop == std::string_view("clean again")) {
                world.restart_cleanly();
            } else {
                world.kill();
            }
            ASSERT_EQ(world.report().cut_bytes, 0u) << world.report().cut_reason << format.magic << stop;
            ASSERT_TRUE(world.report().set_aside.empty()) << stop;
            ASSERT_EQ(world.log().log_end_offset(), Offset{10}) << stop;
            for (const File& file : files) {
                ASSERT_EQ(world.system.content(segment_name(file.base)), file.content) << stop;
            }
            const auto slice = world.log().read({3}, {.upper_bound = {10}, .max_bytes = 1 << 20, .minimum_one_batch = true});
            ASSERT_TRUE(slice);
            EXPECT_EQ(slice->size, behind.size());
        }
        open(files);
        EXPECT_EQ(world.log().log_end_offset(), Offset{2}) << "nothing vouches for what an unclean stop left";
        ASSERT_EQ(world.report().set_aside.size(), 3u);
        EXPECT_EQ(world.system.content("/data/t-0/" + world.report().set_aside[0]), rotten + behind);
    }
}

// A damaged size leads to no header, so the header does not vouch for the entry.
TEST_F(LegacyFormats, ACleanStartCutsAtAnOldEntryWhoseHeaderLeadsNowhere) {
    for (const int format : {0, 1}) {
        const std::string one = old_entries({.magic = format}, numbered(0, 1, kT));
        std::string two = old_entries({.magic = format}, numbered(1, 1, kT));
        const std::string three = old_entries({.magic = format}, numbered(2, 1, kT));
        two[11] ^= 4;
        open({{0, one + two + three}}, true);
        EXPECT_EQ(world.log().log_end_offset(), Offset{1});
        ASSERT_EQ(world.report().set_aside.size(), 1u);
        EXPECT_EQ(world.system.content("/data/t-0/" + world.report().set_aside[0]), two + three);
        // An offset that goes back belongs to no next entry either.
        const std::string back = old_entries({.magic = format}, numbered(0, 1, kT));
        two[11] ^= 4;
        two.back() ^= 1;
        open({{0, one + two + back}}, true);
        EXPECT_EQ(world.log().log_end_offset(), Offset{1});
    }
}

TEST_F(LegacyFormats, ACleanStartReadsNoBodyOfASegmentInFormatZero) {
    std::vector<LegacyWritten> records;
    for (std::int64_t i = 0; i < 300; ++i) {
        records.push_back({i, -1, "k", std::string(1000, 'v')});
    }
    const std::string sealed = old_entries({.magic = 0}, records);
    for (LegacyWritten& record : records) {
        record.offset += 300;
    }
    open({{0, sealed, kT}, {300, old_entries({.magic = 0}, records), kT + 1}});
    std::uint64_t bytes = 0;
    world.system.on_read = [&](const std::string& path, std::uint64_t, std::uint64_t length) {
        bytes += path.ends_with(".log") ? length : 0;
    };
    for (int restart = 0; restart < 2; ++restart) {
        bytes = 0;
        world.restart_cleanly();
        EXPECT_LE(bytes, 32u * 1024) << "of " << 2 * sealed.size();
        EXPECT_EQ(world.report().rebuilt_indexes, 0u);
        EXPECT_FALSE(world.report().recovery_point_is_void);
        EXPECT_EQ(world.log().log_end_offset(), Offset{600});
        EXPECT_EQ(offset_at(kT), -1);
    }
    world.system.on_read = nullptr;
    EXPECT_EQ(read_all(world.log(), {0}).size(), 2 * sealed.size());
    world.config->retention_ms = 1'000;
    const auto deleted = world.log().apply_retention({kT + 1'001});
    ASSERT_TRUE(deleted);
    EXPECT_EQ(world.log().log_start_offset(), Offset{300}) << "the times of the files count, also of one that was not read";
}

TEST_F(LegacyFormats, AMissingEpochCheckpointCostsACleanStartTheHeadersOnly) {
    for (const int format : {0, 1}) {
        std::vector<LegacyWritten> records;
        for (std::int64_t i = 0; i < 30; ++i) {
            records.push_back({i, kT + i, "k", std::string(50'000, 'v')});
        }
        const std::string sealed = old_entries({.magic = format}, records);
        open({{0, sealed}, {30, old_entries({.magic = format}, numbered(30, 1, kT))}});
        ASSERT_TRUE(world.directory->close());
        world.vanish();
        world.system.crash_process();
        ASSERT_TRUE(world.system.remove("/data/t-0/" + std::string(kLeaderEpochFileName)));
        std::uint64_t bytes = 0;
        world.system.on_read = [&](const std::string& path, std::uint64_t, std::uint64_t length) {
            bytes += path.ends_with(".log") ? length : 0;
        };
        world.open();
        world.system.on_read = nullptr;
        EXPECT_LE(bytes, sealed.size() / 8) << "a window for each header";
        EXPECT_EQ(read_all(world.log(), {0}).substr(0, sealed.size()), sealed);
    }
}

TEST_F(LegacyFormats, AnEmptyTimeIndexIsNotBelievedWhereALaterEntryHasATime) {
    world.config->index_interval_bytes = 1;
    open({{0, old_entries({.magic = 0}, numbered(0, 5, -1)) + old_entries({.magic = 1}, numbered(5, 3, kT))},
          {8, batch_of(8, Codec::none, numbered(8, 1, kT + 100))}});
    ASSERT_EQ(offset_at(kT + 1), 6);
    ASSERT_TRUE(world.directory->close());
    world.vanish();
    world.system.crash_process();
    world.system.set_content("/data/t-0/" + segment_file_name({0}, ".timeindex"), "");
    world.open();
    EXPECT_EQ(offset_at(kT + 1), 6);
    EXPECT_EQ(world.report().cut_bytes, 0u);
}

/// A later format as it may be one day: a head like that of today, and bytes that mean something else.
std::string later_format(std::int64_t offset, char magic, std::size_t size = 90) {
    std::string bytes(size, 'x');
    store_big_endian(reinterpret_cast<std::byte*>(bytes.data()), offset);
    store_big_endian(reinterpret_cast<std::byte*>(bytes.data()) + 8, static_cast<std::int32_t>(size - 12));
    bytes[16] = magic;
    return bytes;
}

TEST_F(LegacyFormats, ALaterFormatIsLeftAsItIsAndNamed) {
    const std::string batch = batch_of(0, Codec::none, numbered(0, 1, kT));
    for (const char magic : {'\3', '\4', '\xf'}) {
        const std::string later = later_format(1, magic) + later_format(2, magic);
        const std::vector<std::vector<File>> directories = {
            {{0, batch + later}},
            {{0, later_format(0, magic)}},
            {{0, batch}, {1, later}},
            {{0, batch}, {1, later}, {3, batch_of(3, Codec::none, numbered(3, 1, kT))}}};
        for (const std::vector<File>& files : directories) {
            for (const bool is_ours : {false, true}) {
                ASSERT_TRUE(place(files));
                if (is_ours) {
                    world.system.set_content("/data/partita.properties", "format.version=1\n");
                }
                world.open();
                ASSERT_EQ(world.directory->open_report().failed.size(), 1u) << static_cast<int>(magic);
                const auto& [name, error] = world.directory->open_report().failed[0];
                EXPECT_EQ(name, "t-0");
                EXPECT_EQ(error.kind, StorageError::Kind::newer_format);
                EXPECT_THAT(error.message, HasSubstr(".log has an unknown message format at position "));
                for (const File& file : files) {
                    EXPECT_EQ(world.system.content(segment_name(file.base)), file.content);
                }
                EXPECT_FALSE(world.directory->claim(world.topic, PartitionIndex{0}, world.config));
                if (!is_ours) {
                    EXPECT_EQ(world.system.files_below("/data/t-0").size(), files.size()) << "not even an index was made";
                }
            }
        }
    }
}

TEST_F(LegacyFormats, AForeignLogOfWhichNothingIsUnderstoodIsLeftAsItIs) {
    std::string content(300, 'x');
    ASSERT_TRUE(place({{0, content}}));
    world.open();
    ASSERT_EQ(world.directory->open_report().failed.size(), 1u);
    EXPECT_THAT(world.directory->open_report().failed[0].second.message, HasSubstr("holds no record of a message format"));
    EXPECT_EQ(world.system.content(segment_name(0)), content);
    EXPECT_EQ(world.system.files_below("/data/t-0").size(), 1u);
    // The next start finds a directory that is ours, and no checkpoint of that partition.
    world.kill();
    ASSERT_EQ(world.directory->open_report().failed.size(), 1u);
    EXPECT_EQ(world.system.files_below("/data/t-0").size(), 1u);
    // In a directory that was ours from the beginning, it is what a power failure left.
    ASSERT_TRUE(place({{0, content}}));
    world.system.set_content("/data/partita.properties", "format.version=1\n");
    world.open();
    EXPECT_TRUE(world.directory->open_report().failed.empty());
    EXPECT_EQ(world.system.content(segment_name(0)), "");
}

/// "4-5 gzip h: c=c4 d": offsets, codec, an h for a delete horizon, and the records of every batch.
std::vector<std::string> shape_of(const std::string& bytes) {
    std::vector<std::string> shapes;
    BatchCursor cursor(as_bytes(bytes));
    while (cursor.next()) {
        const BatchHeader& header = cursor.batch().header;
        EXPECT_TRUE(check_crc(cursor.batch()));
        std::string shape = std::to_string(header.magic) + ": " + std::to_string(header.base_offset.value) + "-" +
                            std::to_string(header.last_offset().value) + " codec " +
                            std::to_string(static_cast<int>(*header.attributes.codec())) + " max " +
                            std::to_string(header.max_timestamp.value) + (header.attributes.has_delete_horizon() ? " h" : "") +
                            (header.attributes.timestamp_type() == TimestampType::log_append_time ? " append" : "");
        EXPECT_TRUE(for_each_record(cursor.batch(), {}, [&](const RecordView& record) {
            shape += " " + std::to_string(record.offset.value) + "@" + std::to_string(record.timestamp.value) + ":" +
                     std::string(as_text(*record.key)) + "=" + (record.value ? std::string(as_text(*record.value)) : "");
        }));
        shapes.push_back(shape);
    }
    EXPECT_FALSE(cursor.error());
    return shapes;
}

class CleanedLegacyFormats : public LegacyFormats {
  protected:
    CleanedLegacyFormats() {
        world.config->compact = true;
        world.config->delete_old_segments = false;
        world.config->delete_retention_ms = 1'000;
    }
    void clean(std::int64_t now) {
        const auto cleaned = world.log().clean({.now = {now}, .key_secrets = kCleaningSecrets});
        ASSERT_TRUE(cleaned) << cleaned.error().message;
    }
};

TEST_F(CleanedLegacyFormats, CompactionWritesWhatStaysInFormatTwoAsKafkaDoes) {
    open({{0,
           old_entries({.magic = 0}, {{0, -1, "a", "a0"}, {1, -1, "b", "b1"}, {2, -1, std::nullopt, "nokey"}}) +
               old_entries({.magic = 0, .codec = Codec::gzip},
                           {{3, -1, "a", "a3"}, {4, -1, "c", "c4"}, {5, -1, "d", std::nullopt}}),
           kT},
          {6,
           old_entries({.magic = 1, .codec = Codec::gzip}, {{6, kT, "b", "b6"}, {7, kT + 1, "e", "e7"}, {8, kT + 2, "f", "f8"}}) +
               old_entries({.magic = 1}, {{9, kT + 3, "e", "e9"}, {10, kT + 4, "g", std::nullopt}}) +
               old_entries({.magic = 1, .codec = Codec::snappy}, {{11, kT + 5, "h", "h11"}, {12, kT + 6, "f", "f12"}}) +
               old_entries({.magic = 1, .codec = Codec::lz4, .log_append_time = kT + 50},
                           {{13, kT + 5, "i", "i13"}, {14, kT + 6, "f", "f14"}}),
           kT + 1'000},
          {15, batch_of(15, Codec::none, {{15, kT + 100, "a", "a15"}, {16, kT + 101, "j", "j16"}}), kT + 2'000},
          {17, batch_of(17, Codec::none, {{17, kT + 9'000, "z", "z17"}}), kT + 9'000}});
    clean(kT + 9'000);
    const std::string cleaned = world.system.content(segment_name(0));
    EXPECT_THAT(shape_of(cleaned),
                ElementsAre("2: 4-5 codec 1 max -1 h 4@-1:c=c4 5@-1:d=", "2: 6-6 codec 1 max 1500000000000 6@1500000000000:b=b6",
                            "2: 9-9 codec 0 max 1500000000003 9@1500000000003:e=e9",
                            "2: 10-10 codec 0 max 1500000000004 h 10@1500000000004:g=",
                            "2: 11-11 codec 2 max 1500000000005 11@1500000000005:h=h11",
                            "2: 13-14 codec 3 max 1500000000050 append 13@1500000000050:i=i13 14@1500000000050:f=f14",
                            "2: 15-16 codec 0 max 1500000000101 15@1500000000100:a=a15 16@1500000000101:j=j16"));
    EXPECT_EQ(world.log().first_dirty_offset(), Offset{17});
    EXPECT_EQ(world.system.modified(segment_name(0)), TimestampMs{kT + 2'000}) << "retention counts on";
    EXPECT_EQ(offset_at(kT + 1), 9);
    const std::string all = read_all(world.log(), {0});
    world.kill();
    EXPECT_EQ(world.report().cut_bytes, 0u);
    EXPECT_EQ(read_all(world.log(), {0}), all);
}

TEST_F(CleanedLegacyFormats, TheLastEntryOfASegmentLeavesItsOffset) {
    open({{0, old_entries({.magic = 1, .codec = Codec::gzip}, {{0, kT, "b", "0"}, {1, kT, "a", "1"}, {2, kT, "a", "2"}})},
          {3, old_entries({.magic = 0}, {{3, -1, "a", "3"}})},
          {4, old_entries({.magic = 0}, {{4, -1, "a", "4"}})},
          {5, batch_of(5, Codec::none, {{5, kT, "z", "z"}})}});
    world.config->segment_bytes = 1;  // Each segment is cleaned alone.
    clean(kT);
    EXPECT_THAT(shape_of(world.system.content(segment_name(0))),
                ElementsAre("2: 0-2 codec 1 max 1500000000000 0@1500000000000:b=0"));
    EXPECT_THAT(shape_of(world.system.content(segment_name(3))), ElementsAre("2: 3-3 codec 0 max -1"));
    EXPECT_THAT(shape_of(world.system.content(segment_name(4))), ElementsAre("2: 4-4 codec 0 max -1 4@-1:a=4"));
    world.kill();
    EXPECT_EQ(world.report().cut_bytes, 0u);
    EXPECT_EQ(world.log().log_end_offset(), Offset{6});
}

// An older Kafka's cleaner left these, and no batch says when a tombstone may go: the times of the files do.
TEST_F(CleanedLegacyFormats, AnOldTombstoneGoesADeleteRetentionBeforeTheNewestCleanSegment) {
    for (const auto& [age, stays] : {std::pair{999, true}, {1'000, false}}) {
        ASSERT_TRUE(place({{0, old_entries({.magic = 0}, {{0, -1, "gone", std::nullopt}, {1, -1, "a", "1"}}), kT - age},
                           {2, old_entries({.magic = 0}, {{2, -1, "b", "2"}}), kT},
                           {3, old_entries({.magic = 0}, {{3, -1, "c", std::nullopt}}), kT - 5'000},
                           {4, batch_of(4, Codec::none, {{4, kT, "z", "z"}})}}));
        world.system.set_content("/data/cleaner-offset-checkpoint", "0\n1\nt 0 3\n");
        world.open();
        ASSERT_EQ(world.log().first_dirty_offset(), Offset{3});
        clean(kT);
        const auto shapes = shape_of(world.system.content(segment_name(0)));
        ASSERT_FALSE(shapes.empty());
        EXPECT_EQ(shapes.front() == "2: 0-0 codec 0 max -1 h 0@-1:gone=", stays) << shapes.front();
    }
}

TEST_F(CleanedLegacyFormats, AnEntryThatReachesBeforeItsPlaceStopsTheCleaning) {
    // The offset of the entry says that its first record lies before the segment.
    std::vector<std::byte> entry = legacy_bytes({.magic = 1, .codec = Codec::gzip}, {{0, kT, "a", "1"}, {9, kT, "b", "2"}});
    store_big_endian(entry.data(), std::int64_t{12});
    open({{0, batch_of(0, Codec::none, numbered(0, 5, kT)) + text(entry)}, {13, batch_of(13, Codec::none, numbered(13, 1, kT))}});
    const auto cleaned = world.log().clean({.now = {kT}, .key_secrets = kCleaningSecrets});
    ASSERT_FALSE(cleaned);
    EXPECT_EQ(cleaned.error().kind, StorageError::Kind::corrupt);
}

}  // namespace
}  // namespace partita::test
