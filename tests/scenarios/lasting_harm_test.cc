// Tests that harm outlives the broker after `kill -9` and a clean stop, until a person marks it as seen or its topic is gone.

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "protocol/record_batch_builder.h"
#include "tests/support/broker_process.h"
#include "tests/support/plain_client.h"

namespace partita::test {
namespace {

/// How often the text has this part.
std::size_t count_in(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

class LastingHarm : public ::testing::Test {
  protected:
    void SetUp() override { start(); }

    void start() {
        broker_.reset();
        broker_ = BrokerProcess::start({.overrides = {"offsets.topic.num.partitions=3"}, .data_directory = directory_ / "data"});
        ASSERT_NE(broker_, nullptr);
        client_ = std::make_unique<PlainClient>(broker_->port());
    }
    void kill() {
        client_.reset();
        broker_->send_signal(SIGKILL);
        (void)broker_->wait();
    }
    [[nodiscard]] std::string told(const std::string& path) const {
        const auto answer = broker_->http_get(path);
        return answer && answer->status == 200 ? answer->body : "";
    }
    [[nodiscard]] std::string findings(const std::string& state) const { return told("/v1/findings?topic=t&state=" + state); }
    [[nodiscard]] std::size_t events(const std::string& part) const {
        return count_in(told("/v1/topics/__partita_expansions/partitions/0/records?limit=1000"), part);
    }
    void send(std::int32_t partition, bool has_value) {
        BatchBuilder builder;
        builder.append({1}, as_bytes("key"), has_value ? std::optional(as_bytes("value")) : std::nullopt);
        std::vector<std::byte> batch;
        builder.build(batch);
        ASSERT_EQ(client_->produce("t", partition, batch).error, ErrorCode::none);
    }
    /// A tombstone in the new partition of a compacted topic misses the key in the old one (H41).
    void do_harm() {
        ASSERT_EQ(client_->create_topic("t", 1, {{"cleanup.policy", "compact"}}).error, ErrorCode::none);
        ASSERT_EQ(client_->expand_topic("t", 2), ErrorCode::none);
        send(0, true);
        send(1, false);
        ASSERT_TRUE(eventually([&] { return events("H41") > 0; })) << findings("all");
    }
    [[nodiscard]] bool is_restored() const {
        return eventually([&] { return findings("open").find("\"restored\":true") != std::string::npos; });
    }

    const TemporaryDirectory directory_;
    std::unique_ptr<BrokerProcess> broker_;
    std::unique_ptr<PlainClient> client_;
};

TEST_F(LastingHarm, StaysThroughKillsUntilItIsSeenAndIsListedAfterThat) {
    ASSERT_NO_FATAL_FAILURE(do_harm());
    for (int times = 0; times < 2; ++times) {
        kill();
        ASSERT_NO_FATAL_FAILURE(start());
        ASSERT_TRUE(is_restored()) << findings("all");
        EXPECT_EQ(count_in(findings("open"), "\"id\":\"H41\""), 1u);
        EXPECT_TRUE(broker_->wait_for_output("finding=H41 event=restored"));
    }
    const std::string http = "127.0.0.1:" + std::to_string(broker_->http_port());
    ASSERT_EQ(std::system((broker_binary() + " findings --seen --id H41 --topic t --http " + http).c_str()), 0);
    EXPECT_EQ(count_in(findings("open"), "H41"), 0u);
    // The event lies in the log before the kill.
    ASSERT_TRUE(eventually([&] { return events("\\\"seen\\\":true") == 1; }));
    kill();
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_TRUE(eventually([&] { return findings("over").find("\"ended\":\"seen\"") != std::string::npos; })) << findings("all");
    EXPECT_EQ(count_in(findings("open"), "H41"), 0u);
}

TEST_F(LastingHarm, StaysThroughAStopAndEndsWithItsTopic) {
    ASSERT_NO_FATAL_FAILURE(do_harm());
    client_.reset();
    EXPECT_EQ(broker_->stop().exit_code, 0);
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_TRUE(is_restored()) << findings("all");
    ASSERT_EQ(client_->delete_topic("t"), ErrorCode::none);
    EXPECT_TRUE(eventually([&] { return count_in(findings("open"), "H41") == 0; }));
    EXPECT_NE(findings("over").find("\"ended\":\"over\""), std::string::npos);
}

}  // namespace
}  // namespace partita::test
