#include "broker/client/fetch.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "protocol/messages/01_fetch.h"
#include "protocol/record_batch_builder.h"
#include "tests/support/legacy_writer.h"
#include "tests/unit/client/fake_network.h"

namespace partita::client {
namespace {

using ::testing::ElementsAre;

std::string value_or_null(const std::optional<Bytes>& bytes) { return bytes ? std::string(as_text(*bytes)) : "null"; }

TEST(Fetcher, HandsOnRecordsOfOldFormatsBeforeBatchesOfToday) {
    std::vector<std::byte> log = test::legacy_bytes(
        {.magic = 0}, {{0, -1, "key-0", "value-0"}, {1, -1, std::nullopt, "value-1"}, {2, -1, "key-2", std::nullopt}});
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
    std::vector<bool> has_times;
    const auto take = [&](const FetchedRecord& record) {
        has_times.push_back(record.timestamp_type.has_value());
        values.push_back(std::to_string(record.offset) + " " + value_or_null(record.value));
        return true;
    };
    Fetcher fetcher(cluster, {});
    fetcher.seek({"t", 0}, 1);
    EXPECT_EQ(fetcher.poll(take), 3);
    EXPECT_THAT(values, ElementsAre("1 value-1", "2 null", "3 today"));
    EXPECT_THAT(has_times, ElementsAre(false, false, true));
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
