// Records as Kafka wrote them before 0.11, made by kafka-python 2.0.2.

#include "broker/client/legacy_records.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "broker/client/fetch.h"
#include "protocol/big_endian.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/record_batch_builder.h"
#include "tests/unit/client/fake_network.h"

namespace partita::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Three records: with key and value, without a key, without a value.
struct Written {
    int magic;
    const char* codec;
    const char* hexadecimal;
};
constexpr Written kWritten[] = {
    {0, "none",
     "00000000000000000000001ae4ffc8290000000000056b65792d300000000776616c75652d3000000000000000010000001598dda4ae00"
     "00ffffffff0000000776616c75652d31000000000000000200000013b05f31100000000000056b65792d32ffffffff"},
    {0, "gzip",
     "00000000000000000000005cea8d517a0001ffffffff0000004e1f8b0800f66d0b6b02ff63608003a927ff4f688259acd9a995ba064006"
     "7b59624e692a9809028c402c3ae3ee92750c0cff8100a1c010aa8009888537c41b0a208c3102a90400ca3d62a466000000"},
    {0, "snappy",
     "0000000000000000000000759069bda60002ffffffff0000006782534e41505059000000000100000001000000536600001901101ae4ff"
     "c829050f38056b65792d300000000776616c7565050b010138010000001598dda4ae0000ffffffff19210031011e680000000200000013"
     "b05f31100000000000056b65792d32ffffffff"},
    {0, "lz4",
     "00000000000000000000007047a1173d0003ffffffff0000006204224d1860401a5300000016000100511ae4ffc8290f00f100056b6579"
     "2d300000000776616c75650b00000200f600010000001598dda4ae0000ffffffff210010311e00c10000000200000013b05f31100e00a0"
     "056b65792d32ffffffff00000000"},
    {1, "none",
     "000000000000000000000022c10c0c3b01000000015d3ef79800000000056b65792d300000000776616c75652d30000000000000000100"
     "00001d23f0ea2d01000000015d3ef79801ffffffff0000000776616c75652d3100000000000000020000001b1c8e0dfb01000000015d3e"
     "f79802000000056b65792d32ffffffff"},
    {1, "gzip",
     "00000000000000000000006fc2f5c23e01010000000000000000ffffffff000000591f8b0800f66d0b6b02ff63608003a5833c3cd68c40"
     "0663acddf7192011d6ecd44a5d032083bd2c31a73415cc0401902259e50faf74e1aa19ff030142a121542113104bcbf4f1fe862b648219"
     "6b04d20100b9480aa57e000000"},
    {1, "snappy",
     "00000000000000000000008c3cfda44401020000000000000000ffffffff0000007682534e41505059000000000100000001000000627e"
     "000019013422c10c0c3b01000000015d3ef798011838056b65792d300000000776616c7565050b01010125101d23f0ea2d01090001012e"
     "1001ffffffff1929003101262c000000020000001b1c8e0dfb15293402000000056b65792d32ffffffff"},
    {1, "lz4",
     "00000000000000000000008f8b9d63b601030000000000000000ffffffff0000007904224d1868407e0000000000000027620000001600"
     "0100e022c10c0c3b01000000015d3ef7981800f100056b65792d300000000776616c75650b00000200002500501d23f0ea2d0900012e00"
     "5601ffffffff290010312600c5000000020000001b1c8e0dfb2900001200a0056b65792d32ffffffff00000000"},
};

std::vector<std::byte> bytes_of(std::string_view hexadecimal) {
    std::vector<std::byte> bytes;
    for (std::size_t at = 0; at + 1 < hexadecimal.size(); at += 2) {
        bytes.push_back(static_cast<std::byte>(std::stoi(std::string(hexadecimal.substr(at, 2)), nullptr, 16)));
    }
    return bytes;
}

std::string text_of(const std::optional<Bytes>& bytes) { return bytes ? std::string(as_text(*bytes)) : "null"; }

/// "0 1500000000000 key value", for each record of each entry.
std::vector<std::string> read_all(Bytes bytes) {
    std::vector<std::string> found;
    std::vector<std::byte> room;
    std::vector<LegacyRecord> records;
    while (!bytes.empty()) {
        EXPECT_TRUE(is_legacy_entry(bytes));
        const auto entry = parse_legacy_entry(bytes);
        if (!entry) {
            found.emplace_back(batch_error_text(entry.error()));
            return found;
        }
        if (const auto read = read_legacy_entry(*entry, room, records); !read) {
            found.emplace_back(batch_error_text(read.error()));
            return found;
        }
        for (const LegacyRecord& record : records) {
            found.push_back(std::to_string(record.offset) + " " + std::to_string(record.timestamp_ms) + " " +
                            text_of(record.key) + " " + text_of(record.value));
        }
        bytes = bytes.subspan(entry->bytes.size());
    }
    return found;
}

TEST(LegacyRecords, AreReadOfBothFormatsAndEveryCodec) {
    for (const Written& written : kWritten) {
        std::vector<std::byte> bytes = bytes_of(written.hexadecimal);
        const bool has_time = written.magic == 1;
        // Brokers keep a compressed entry with the offset of its last record.
        if (std::string_view(written.codec) != "none") {
            store_big_endian<std::int64_t>(bytes.data(), 2);
        }
        EXPECT_THAT(read_all(bytes), ElementsAre(has_time ? "0 1500000000000 key-0 value-0" : "0 -1 key-0 value-0",
                                                 has_time ? "1 1500000000001 null value-1" : "1 -1 null value-1",
                                                 has_time ? "2 1500000000002 key-2 null" : "2 -1 key-2 null"))
            << written.magic << " " << written.codec;
    }
}

TEST(LegacyRecords, OffsetsOfFormatOneFollowFromThatOfTheLast) {
    for (const Written& written : kWritten) {
        if (written.magic == 0 || std::string_view(written.codec) == "none") {
            continue;
        }
        std::vector<std::byte> bytes = bytes_of(written.hexadecimal);
        store_big_endian<std::int64_t>(bytes.data(), 1'002);
        EXPECT_THAT(read_all(bytes), ElementsAre(HasSubstr("1000 "), HasSubstr("1001 "), HasSubstr("1002 "))) << written.codec;
        // Records that some versions of librdkafka wrote.
        store_big_endian<std::int64_t>(bytes.data(), 0);
        EXPECT_THAT(read_all(bytes), ElementsAre(HasSubstr("0 "), HasSubstr("1 "), HasSubstr("2 "))) << written.codec;
    }
}

TEST(LegacyRecords, AnyByteThatIsAnotherIsNoticedAndAnyEndIsTruncated) {
    for (const Written& written : kWritten) {
        const std::vector<std::byte> good = bytes_of(written.hexadecimal);
        const std::size_t size = parse_legacy_entry(good)->bytes.size();
        constexpr std::size_t kBehindSize = 12;
        for (std::size_t at = kBehindSize; at < size; ++at) {
            std::vector<std::byte> damaged = good;
            damaged[at] ^= std::byte{0x40};
            std::vector<std::byte> room;
            std::vector<LegacyRecord> records;
            const auto read = read_legacy_entry(*parse_legacy_entry(damaged), room, records);
            ASSERT_FALSE(read) << at;
            EXPECT_EQ(read.error(), BatchError::crc_mismatch) << at;
        }
        for (std::size_t length = 0; length < size; ++length) {
            EXPECT_EQ(parse_legacy_entry(Bytes(good).first(length)).error(), BatchError::truncated) << length;
        }
    }
}

TEST(LegacyRecords, ASizeThatHoldsNoRecordIsRefused) {
    std::vector<std::byte> bytes = bytes_of(kWritten[0].hexadecimal);
    for (const std::int32_t size : {-1, 0, 5}) {
        store_big_endian(bytes.data() + 8, size);
        EXPECT_EQ(parse_legacy_entry(bytes).error(), BatchError::length_too_small);
    }
}

TEST(LegacyRecords, AFetcherHandsThemOnBeforeBatchesOfToday) {
    std::vector<std::byte> log = bytes_of(kWritten[0].hexadecimal);
    const std::size_t old_bytes = log.size();
    BatchBuilder builder({.base_offset = {3}});
    builder.append({0}, std::nullopt, as_bytes(std::string_view("today")));
    builder.build(log);
    FakeNetwork network([&](const Asked& asked, ByteBuffer& out) {
        if (asked.api.key == ApiKey::metadata) {
            MetadataResponse::Partition partition{.leader_id = 1};
            MetadataResponse::Topic topic{.name = "t", .partitions = {&partition, 1}};
            FakeNetwork::reply(asked, MetadataResponse{.brokers = network.brokers, .topics = {&topic, 1}}, out);
            return true;
        }
        FetchResponse::PartitionData data{.high_watermark = 4, .records = Bytes(log)};
        FetchResponse::FetchableTopicResponse topic{.topic = "t", .partitions = {&data, 1}};
        FakeNetwork::reply(asked, FetchResponse{.responses = {&topic, 1}}, out);
        return true;
    });
    Settings settings;
    settings.bootstrap = *parse_bootstrap("a:1");
    Cluster cluster(network, settings);
    std::vector<std::string> values;
    const auto take = [&](const FetchedRecord& record) {
        values.push_back(std::to_string(record.offset) + " " + text_of(record.value));
        return true;
    };
    Fetcher fetcher(cluster, {});
    fetcher.seek({"t", 0}, 1);
    EXPECT_EQ(fetcher.poll(take), 3);
    EXPECT_THAT(values, ElementsAre("1 value-1", "2 null", "3 today"));
    EXPECT_EQ(fetcher.position({"t", 0}), 4);
    log[old_bytes - 1] ^= std::byte{1};
    fetcher.seek({"t", 0}, 1);
    const auto damaged = fetcher.poll(take);
    ASSERT_FALSE(damaged);
    EXPECT_EQ(damaged.error().kind, Failure::Kind::damaged);
    EXPECT_EQ(fetcher.position({"t", 0}), 2);
    EXPECT_EQ(fetcher.damage(), batch_error_text(BatchError::crc_mismatch));
}

}  // namespace
}  // namespace partita::client
