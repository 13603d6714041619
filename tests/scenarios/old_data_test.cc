// Data directories of Kafkas from before format 2 and KRaft, and of ones that come later: served, or left as they are.

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "protocol/big_endian.h"
#include "protocol/messages/09_offset_fetch.h"
#include "protocol/record_batch_builder.h"
#include "tests/support/broker_process.h"
#include "tests/support/legacy_writer.h"
#include "tests/support/plain_client.h"

namespace partita::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kTime = 1'500'000'000'000;

/// A directory as a broker under ZooKeeper left it: no metadata, no topic ids.
class OldDirectory {
  public:
    OldDirectory() { write("meta.properties", "version=0\nbroker.id=0\n"); }

    void write(const std::string& name, std::string_view content) {
        const std::filesystem::path path = directory_ / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << content;
    }
    /// Writes the first segment of a partition.
    void write_log(const std::string& partition, std::string_view content) {
        write(partition + "/00000000000000000000.log", content);
    }
    [[nodiscard]] std::string read_log(const std::string& partition) const {
        std::ifstream file(directory_ / (partition + "/00000000000000000000.log"), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    [[nodiscard]] const std::string& path() const { return directory_.path(); }

  private:
    TemporaryDirectory directory_;
};

std::string mixed_log() {
    std::vector<std::byte> bytes;
    write_legacy({.magic = 0}, {{0, -1, "k", "format 0"}}, bytes);
    write_legacy({.magic = 1, .codec = Codec::gzip}, {{1, kTime, "k", "format 1"}, {2, kTime + 5, "k", "packed"}}, bytes);
    BatchBuilder builder({.base_offset = {3}});
    builder.append({kTime + 10}, as_bytes("k"), as_bytes("format 2"));
    builder.build(bytes);
    return std::string(as_text(bytes));
}

/// A committed offset as Kafka 0.9 and 0.10 stored it in __consumer_offsets: key and value in version 1.
LegacyWritten committed_offset(std::int64_t at, std::string_view group, std::string_view topic, std::int64_t offset) {
    std::string key;
    std::string value;
    const auto put = [](std::string& to, auto number) {
        to.resize(to.size() + sizeof number);
        store_big_endian(reinterpret_cast<std::byte*>(to.data() + to.size() - sizeof number), number);
    };
    const auto put_text = [&](std::string& to, std::string_view text) {
        put(to, static_cast<std::int16_t>(text.size()));
        to += text;
    };
    constexpr std::int64_t kDayMs = 86'400'000;
    put(key, std::int16_t{1});
    put_text(key, group);
    put_text(key, topic);
    put(key, std::int32_t{0});
    put(value, std::int16_t{1});
    put(value, offset);
    put_text(value, "");
    put(value, wall_ms());
    put(value, wall_ms() + kDayMs);
    return {at, wall_ms(), key, value};
}

std::vector<std::string> values_of(PlainClient& client, const std::string& topic) {
    std::vector<std::string> values;
    for (const ReadRecord& record : client.read_all(topic, 0).value_or(std::vector<ReadRecord>{{-1, "cannot read"}})) {
        values.push_back(record.value);
    }
    return values;
}

TEST(OldData, ADirectoryFromBeforeKRaftIsServedWithItsEmptyTopics) {
    OldDirectory old;
    old.write_log("full-0", mixed_log());
    old.write_log("empty-0", "");
    old.write_log("empty-1", "");
    old.write("backup-20261121/notes.txt", "a user's own");
    std::vector<std::byte> offsets;
    write_legacy({.magic = 0}, {committed_offset(0, "readers", "full", 1)}, offsets);
    write_legacy({.magic = 1, .codec = Codec::gzip},
                 {committed_offset(1, "others", "empty", 0), committed_offset(2, "readers", "full", 2)}, offsets);
    old.write_log("__consumer_offsets-0", as_text(offsets));
    for (const char* start : {"first", "second"}) {
        const auto broker = BrokerProcess::start({.data_directory = old.path()});
        ASSERT_NE(broker, nullptr) << start;
        PlainClient client(broker->port());
        const auto topics = client.metadata();
        ASSERT_TRUE(topics);
        EXPECT_EQ(topics->count("backup"), 0u);
        ASSERT_EQ(topics->count("empty"), 1u) << broker->output();
        EXPECT_EQ(topics->at("empty").partitions, 2u);
        EXPECT_THAT(values_of(client, "full"), ElementsAre("format 0", "format 1", "packed", "format 2"));
        EXPECT_EQ(client.list_offset("full", 0, kTime + 1), 2);
        EXPECT_EQ(client.list_offset("full", 0, -3), 3) << "the newest time";
        EXPECT_EQ(client.list_offset("empty", 1, -1), 0);
        EXPECT_TRUE(eventually([&] { return client.committed("readers", "full", 0) == 2; })) << broker->output();
        EXPECT_EQ(client.committed("others", "empty", 0), 0);
        const auto page = broker->http_get("/v1/topics/full/partitions/0/records?from=1&limit=2");
        ASSERT_TRUE(page);
        EXPECT_THAT(page->body, HasSubstr(R"("offset":1,"timestamp_ms":1500000000000,"key":"k","value":"format 1")"));
        EXPECT_EQ(broker->stop().exit_code, 0);
    }
    EXPECT_EQ(old.read_log("full-0"), mixed_log());
    EXPECT_TRUE(std::filesystem::exists(old.path() + "/backup-20261121/notes.txt"));
}

// A reader that may take only some records at once cuts answers at batches, whose headers it counts.
TEST(OldData, SmallEntriesPassWhereTheCapacityIsLimited) {
    OldDirectory old;
    std::vector<std::byte> bytes;
    for (std::int64_t offset = 0; offset < 50; ++offset) {
        write_legacy({.magic = 0}, {{offset, -1, std::nullopt, std::to_string(offset)}}, bytes);
    }
    old.write_log("small-0", as_text(bytes));
    const auto broker = BrokerProcess::start({.overrides = {"partita.capacity.units=1"}, .data_directory = old.path()});
    ASSERT_NE(broker, nullptr);
    PlainClient client(broker->port());
    EXPECT_EQ(values_of(client, "small").size(), 50u);
    EXPECT_EQ(client.read_all("small", 0, 49)->size(), 1u) << "the last, shorter than a header of today";
}

/// The topics of an OffsetFetch about all topics of a group, as Kafka's tools send it.
std::set<std::string> topics_of_group(PlainClient& client, const std::string& group, std::int16_t version) {
    OffsetFetchRequest::Group asked{.group_id = group, .topics = nullptr};
    OffsetFetchRequest request;
    if (version < 8) {
        request.group_id = group;
        request.topics = nullptr;
    } else {
        request.groups = {&asked, 1};
    }
    std::set<std::string> names;
    const auto* answer = client.wire().call<OffsetFetchResponse>(version, request);
    EXPECT_NE(answer, nullptr) << client.wire().failure();
    if (answer != nullptr) {
        for (const auto& topic : answer->topics) {
            names.emplace(topic.name);
        }
        for (const auto& each : answer->groups) {
            for (const auto& topic : each.topics) {
                names.emplace(topic.name);
            }
        }
    }
    return names;
}

TEST(OldData, AGroupIsDescribedWithoutATopicThatIsGone) {
    TemporaryDirectory first;
    {
        const auto broker =
            BrokerProcess::start({.overrides = {"offsets.topic.num.partitions=1"}, .data_directory = first.path()});
        ASSERT_NE(broker, nullptr);
        PlainClient client(broker->port());
        for (const char* topic : {"kept", "gone"}) {
            ASSERT_EQ(client.create_topic(topic, 1).error, ErrorCode::none);
            ASSERT_EQ(client.produce_value(topic, 0, "v").error, ErrorCode::none);
            ASSERT_TRUE(eventually([&] { return client.commit("readers", topic, 0, 1) == ErrorCode::none; }));
        }
        EXPECT_EQ(broker->stop().exit_code, 0);
    }
    OldDirectory old;
    for (const auto& entry : std::filesystem::directory_iterator(first.path())) {
        const std::string name = entry.path().filename();
        if (name == "kept-0" || name.starts_with("__consumer_offsets-")) {
            std::filesystem::copy(entry.path(), old.path() + "/" + name, std::filesystem::copy_options::recursive);
        }
    }
    const auto broker = BrokerProcess::start({.data_directory = old.path()});
    ASSERT_NE(broker, nullptr);
    PlainClient client(broker->port());
    EXPECT_TRUE(eventually([&] { return client.committed("readers", "kept", 0) == 1; }));
    for (const std::int16_t version : {2, 7, 8, 9}) {
        EXPECT_EQ(topics_of_group(client, "readers", version), std::set<std::string>{"kept"}) << version;
    }
    EXPECT_EQ(client.committed("readers", "gone", 0), 1) << "its offset waits for it";
}

/// One entry with a magic that no format has yet, and a checksum that no format gives it: else it would be a damaged magic.
std::string later_log() {
    std::vector<std::byte> bytes = legacy_bytes({.magic = 1}, {{0, kTime, "k", "of tomorrow"}});
    bytes[12] ^= std::byte{1};
    bytes[16] = std::byte{3};
    return std::string(as_text(bytes));
}

TEST(OldData, APartitionInALaterFormatIsNamedAndLeftAsItIs) {
    OldDirectory old;
    old.write_log("known-0", mixed_log());
    old.write_log("later-0", later_log());
    for (const char* start : {"first", "second"}) {
        const auto broker = BrokerProcess::start({.data_directory = old.path()});
        ASSERT_NE(broker, nullptr) << start;
        PlainClient client(broker->port());
        EXPECT_EQ(client.metadata()->count("later"), 0u);
        EXPECT_EQ(values_of(client, "known").size(), 4u);
        EXPECT_NE(client.create_topic("later", 1).error, ErrorCode::none) << "its directory would have to go";
        EXPECT_THAT(broker->output(), HasSubstr("later-0"));
        EXPECT_THAT(broker->output(), HasSubstr("has an unknown message format at position 0"));
        EXPECT_EQ(broker->stop().exit_code, 0);
        EXPECT_EQ(old.read_log("later-0"), later_log());
        EXPECT_EQ(std::distance(std::filesystem::directory_iterator(old.path() + "/later-0"), {}), 1) << "not even an index";
    }
}

TEST(OldData, ATopicOfWhichOnePartitionIsUnknownRefusesTheStart) {
    OldDirectory old;
    old.write_log("topic-0", mixed_log());
    old.write_log("topic-1", later_log());
    for (const char* start : {"first", "second"}) {
        const Finished refused = BrokerProcess::run({.data_directory = old.path()});
        EXPECT_NE(refused.exit_code, 0) << start;
        EXPECT_THAT(refused.output, HasSubstr("cannot open the partition topic-1"));
        EXPECT_THAT(refused.output, HasSubstr("nothing in it was changed"));
        EXPECT_EQ(old.read_log("topic-0"), mixed_log());
        EXPECT_EQ(old.read_log("topic-1"), later_log());
    }
    std::filesystem::rename(old.path() + "/topic-1", old.path() + "/topic-1.away");
    const auto broker = BrokerProcess::start({.data_directory = old.path()});
    ASSERT_NE(broker, nullptr);
    PlainClient client(broker->port());
    EXPECT_EQ(values_of(client, "topic").size(), 4u);
}

}  // namespace
}  // namespace partita::test
