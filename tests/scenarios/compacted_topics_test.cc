// Compacted topics as clients see them, over cleanings, tombstones and kills.

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include "protocol/record_batch_builder.h"
#include "tests/support/broker_process.h"
#include "tests/support/plain_client.h"

namespace partita::test {
namespace {

constexpr int kKeys = 20;
/// The values are so large that a few rounds seal segments of the smallest size that Kafka allows.
constexpr std::size_t kValueBytes = 12'000;

BrokerProcess::Options often_cleaned(const std::string& data_directory = {}) {
    return {.overrides = {"log.cleaner.backoff.ms=20", "log.initial.task.delay.ms=100"}, .data_directory = data_directory};
}

std::map<std::string, std::string> compacted(std::int64_t delete_retention_ms) {
    return {{"cleanup.policy", "compact"},
            {"segment.bytes", "1048576"},
            {"min.cleanable.dirty.ratio", "0.01"},
            {"delete.retention.ms", std::to_string(delete_retention_ms)}};
}

std::string key_name(int key) { return "key" + std::to_string(key); }

/// One batch with `<key>:<round>:<noise>` for each of the keys.
[[nodiscard]] bool write_round(PlainClient& client, const std::string& topic, int round) {
    BatchBuilder builder;
    for (int key = 0; key < kKeys; ++key) {
        std::string value = key_name(key) + ":" + std::to_string(round) + ":";
        value.resize(kValueBytes, static_cast<char>('a' + round % 26));
        builder.append({wall_ms()}, as_bytes(key_name(key)), as_bytes(value));
    }
    std::vector<std::byte> batch;
    builder.build(batch);
    return client.produce(topic, 0, batch).error == ErrorCode::none;
}

[[nodiscard]] bool delete_key(PlainClient& client, const std::string& topic, int key) {
    BatchBuilder builder;
    builder.append({wall_ms()}, as_bytes(key_name(key)), std::nullopt);
    std::vector<std::byte> batch;
    builder.build(batch);
    return client.produce(topic, 0, batch).error == ErrorCode::none;
}

/// Returns what a consumer that reads everything knows in the end: "<key>:<round>" for every key. Empty when it cannot read.
std::map<std::string, std::string> latest_values(PlainClient& client, const std::string& topic) {
    std::map<std::string, std::string> latest;
    const auto records = client.read_all(topic, 0);
    if (!records) {
        return latest;
    }
    for (const ReadRecord& record : *records) {
        const std::size_t colon = record.value.find(':');
        if (colon == std::string::npos) {
            continue;
        }
        latest[record.value.substr(0, colon)] = record.value.substr(0, record.value.find(':', colon + 1));
    }
    return latest;
}

std::size_t count_tombstones(PlainClient& client, const std::string& topic) {
    const auto records = client.read_all(topic, 0);
    return !records ? 0 : static_cast<std::size_t>(std::ranges::count_if(*records, [](const auto& record) {
        return record.value.empty();
    }));
}

TEST(CompactedTopic, KeepsTheLastValueOfEveryKeyAndGivesSpaceBack) {
    const auto broker = BrokerProcess::start(often_cleaned());
    ASSERT_NE(broker, nullptr);
    PlainClient client(broker->port());
    ASSERT_EQ(client.create_topic("compacted", 1, compacted(0)).error, ErrorCode::none);
    constexpr int kRounds = 40;
    for (int round = 0; round < kRounds; ++round) {
        ASSERT_TRUE(write_round(client, "compacted", round));
    }
    ASSERT_TRUE(broker->wait_for_output("compacted a log")) << broker->output();
    // One value of each key remains of the 9.6 MB, plus the active segment and the records that are about to be cleaned.
    EXPECT_TRUE(eventually([&] { return disk_usage(broker->data_directory() + "/compacted-0") < 3'500'000; }));
    const auto latest = latest_values(client, "compacted");
    EXPECT_EQ(latest.size(), static_cast<std::size_t>(kKeys));
    for (const auto& [key, value] : latest) {
        EXPECT_EQ(value, key + ":" + std::to_string(kRounds - 1));
    }
    EXPECT_EQ(client.list_offset("compacted", 0, -2), 0);
    EXPECT_EQ(client.list_offset("compacted", 0, -1), kRounds * kKeys);
}

TEST(CompactedTopic, TombstonesVanishAfterDeleteRetention) {
    const auto broker = BrokerProcess::start(often_cleaned());
    ASSERT_NE(broker, nullptr);
    PlainClient client(broker->port());
    ASSERT_EQ(client.create_topic("long", 1, compacted(3'600'000)).error, ErrorCode::none);
    ASSERT_EQ(client.create_topic("short", 1, compacted(1)).error, ErrorCode::none);
    for (const std::string topic : {"long", "short"}) {
        ASSERT_TRUE(write_round(client, topic, 0));
        for (int key = 0; key < kKeys; ++key) {
            ASSERT_TRUE(delete_key(client, topic, key));
        }
        BatchBuilder other;
        other.append({wall_ms()}, as_bytes("other"), as_bytes("other:0:"));
        std::vector<std::byte> batch;
        other.build(batch);
        ASSERT_EQ(client.produce(topic, 0, batch).error, ErrorCode::none);
    }
    // Each round is a part of a segment; a cleaning comes with every new segment.
    int round = 0;
    const auto write_more = [&](const std::string& topic) {
        BatchBuilder builder;
        builder.append({wall_ms()}, as_bytes("filler"), as_bytes(std::string(600'000, 'f') + std::to_string(++round)));
        std::vector<std::byte> batch;
        builder.build(batch);
        return client.produce(topic, 0, batch).error == ErrorCode::none;
    };
    ASSERT_TRUE(eventually([&] { return write_more("short") && count_tombstones(client, "short") == 0; }));
    ASSERT_TRUE(eventually([&] { return write_more("long") && latest_values(client, "long").size() == 1; }));
    EXPECT_EQ(count_tombstones(client, "long"), static_cast<std::size_t>(kKeys));
}

TEST(CompactedTopic, SurvivesKillsInTheMiddleOfCleanings) {
    TemporaryDirectory directory;
    std::mt19937 random(7);
    int round = 0;
    bool is_created = false;
    for (int life = 0; life < 6; ++life) {
        auto broker = BrokerProcess::start(often_cleaned(directory.path()));
        ASSERT_NE(broker, nullptr);
        PlainClient client(broker->port());
        if (!std::exchange(is_created, true)) {
            ASSERT_EQ(client.create_topic("compacted", 1, compacted(0)).error, ErrorCode::none);
        }
        if (round > 0) {
            const auto latest = latest_values(client, "compacted");
            ASSERT_EQ(latest.size(), static_cast<std::size_t>(kKeys));
            for (const auto& [key, value] : latest) {
                ASSERT_EQ(value, key + ":" + std::to_string(round - 1));
            }
        }
        const int more = 8 + static_cast<int>(random() % 12);
        for (int i = 0; i < more; ++i) {
            ASSERT_TRUE(write_round(client, "compacted", round++));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(random() % 120));
        broker->send_signal(SIGKILL);
        EXPECT_EQ(broker->wait().signal_number, SIGKILL);
        EXPECT_EQ(broker->count_in_output("a damaged tail"), 0u) << broker->output();
    }
}

TEST(ConsumerOffsets, AreCompactedAndSurviveAKill) {
    TemporaryDirectory directory;
    BrokerProcess::Options options = often_cleaned(directory.path());
    options.overrides.insert(options.overrides.end(), {"offsets.topic.num.partitions=1", "offsets.topic.segment.bytes=1048576",
                                                       "log.cleaner.min.cleanable.ratio=0.01"});
    auto broker = BrokerProcess::start(options);
    ASSERT_NE(broker, nullptr);
    PlainClient client(broker->port());
    ASSERT_EQ(client.create_topic("data", 1).error, ErrorCode::none);
    ASSERT_EQ(client.commit("once", "data", 0, 17), ErrorCode::none);
    std::int64_t commits = 0;
    // A segment is full after some thousand commits; it is cleaned when LMDB has them.
    ASSERT_TRUE(eventually([&] {
        for (int i = 0; i < 200; ++i) {
            if (client.commit("often", "data", 0, commits + 1) != ErrorCode::none) {
                return false;
            }
            ++commits;
        }
        return broker->count_in_output("partition=__consumer_offsets-0") > 0;
    }));
    broker->send_signal(SIGKILL);
    EXPECT_EQ(broker->wait().signal_number, SIGKILL);
    // From LMDB and the log, and from the log alone.
    for (const bool has_checkpoint : {true, false}) {
        if (!has_checkpoint) {
            std::filesystem::remove_all(directory / "partita-metadata");
        }
        broker = BrokerProcess::start(options);
        ASSERT_NE(broker, nullptr);
        PlainClient again(broker->port());
        EXPECT_EQ(again.committed("once", "data", 0), 17);
        EXPECT_EQ(again.committed("often", "data", 0), commits);
        broker->send_signal(SIGKILL);
        EXPECT_EQ(broker->wait().signal_number, SIGKILL);
    }
}

}  // namespace
}  // namespace partita::test
