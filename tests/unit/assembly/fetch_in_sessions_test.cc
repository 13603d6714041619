// Tests fetches of one session (KIP-227) that meet in a whole broker.

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "protocol/messages/01_fetch.h"
#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

using namespace std::chrono_literals;

constexpr std::int16_t kByName = 12;

class FetchInSessions : public ::testing::Test {
  protected:
    void SetUp() override {
        broker_ = InProcessBroker::start({.data_directory = directory_ / "data"});
        ASSERT_NE(broker_, nullptr);
        producer_ = std::make_unique<WireClient>(broker_->port());
        first_ = std::make_unique<WireClient>(broker_->port());
        second_ = std::make_unique<WireClient>(broker_->port());
        ASSERT_TRUE(create_topic(*producer_, "a", 2));
        ASSERT_TRUE(create_topic(*producer_, "b", 1));
    }
    void TearDown() override {
        producer_.reset();
        first_.reset();
        second_.reset();
        EXPECT_TRUE(broker_->stop());
    }

    struct Asked {
        std::int32_t session_id = 0;
        std::int32_t epoch = 0;
        std::int32_t max_wait_ms = 0;
        std::vector<std::string> topics;
    };
    void ask(WireClient& client, std::int32_t id, const Asked& asked) {
        std::vector<FetchRequest::FetchTopic> topics;
        static std::array partitions{FetchRequest::FetchPartition{.partition = 0, .partition_max_bytes = 1 << 20},
                                     FetchRequest::FetchPartition{.partition = 1, .partition_max_bytes = 1 << 20}};
        for (const std::string& name : asked.topics) {
            topics.push_back(
                {.topic = name, .partitions = Array<FetchRequest::FetchPartition>(partitions.data(), name == "a" ? 2 : 1)});
        }
        ASSERT_TRUE(client.send(request_frame(kByName,
                                              FetchRequest{.max_wait_ms = asked.max_wait_ms,
                                                           .min_bytes = 1,
                                                           .session_id = asked.session_id,
                                                           .session_epoch = asked.epoch,
                                                           .topics = topics},
                                              id)));
    }
    static const FetchResponse* answer(WireClient& client, std::int32_t id) {
        return static_cast<const FetchResponse*>(client.read_reply(*find_api(ApiKey::fetch), kByName, id, WireClient::kPatience));
    }
    void produce_one(const std::string& topic) {
        const std::array values{std::string("v")};
        EXPECT_EQ(produce(*producer_, topic, 0, make_batch(values)), ErrorCode::none);
    }

    TemporaryDirectory directory_;
    std::unique_ptr<InProcessBroker> broker_;
    std::unique_ptr<WireClient> producer_;
    std::unique_ptr<WireClient> first_;
    std::unique_ptr<WireClient> second_;
};

TEST_F(FetchInSessions, AnIncrementalAnswerHasWhatIsNewAlone) {
    ask(*first_, 1, {.topics = {"a", "b"}});
    const FetchResponse* response = answer(*first_, 1);
    ASSERT_NE(response, nullptr) << first_->failure();
    ASSERT_EQ(response->responses.count(), 2u);
    const std::int32_t session = response->session_id;
    ASSERT_GT(session, 0);

    produce_one("b");
    ask(*first_, 2, {.session_id = session, .epoch = 1});
    response = answer(*first_, 2);
    ASSERT_NE(response, nullptr) << first_->failure();
    EXPECT_EQ(response->error_code, ErrorCode::none);
    ASSERT_EQ(response->responses.count(), 1u);
    EXPECT_EQ(response->responses[0].topic, "b");
    ASSERT_EQ(response->responses[0].partitions.count(), 1u);
    EXPECT_EQ(response->responses[0].partitions[0].high_watermark, 1);
}

// Kafka's IncrementalFetchContext calls this a "possible duplicate request".
TEST_F(FetchInSessions, AWaitingFetchThatALaterOneSupersedesIsAnErrorWhenItIsAnswered) {
    ask(*first_, 1, {.topics = {"a"}});
    const FetchResponse* response = answer(*first_, 1);
    ASSERT_NE(response, nullptr) << first_->failure();
    const std::int32_t session = response->session_id;
    ask(*first_, 2, {.session_id = session, .epoch = 1, .max_wait_ms = 600'000});
    EXPECT_TRUE(first_->is_silent_for(100ms)) << "there is nothing to read";

    ask(*second_, 3, {.session_id = session, .epoch = 2});
    response = answer(*second_, 3);
    ASSERT_NE(response, nullptr) << second_->failure();
    ASSERT_EQ(response->error_code, ErrorCode::none);
    EXPECT_EQ(response->responses.count(), 0u);

    produce_one("a");
    response = answer(*first_, 2);
    ASSERT_NE(response, nullptr) << first_->failure();
    EXPECT_EQ(response->error_code, ErrorCode::invalid_fetch_session_epoch);
    EXPECT_EQ(response->session_id, session);
    EXPECT_EQ(response->responses.count(), 0u);

    // The records that the refused answer left out are still news.
    ask(*second_, 4, {.session_id = session, .epoch = 3});
    response = answer(*second_, 4);
    ASSERT_NE(response, nullptr) << second_->failure();
    ASSERT_EQ(response->responses.count(), 1u);
    EXPECT_GT(response->responses[0].partitions[0].records.size, 0);
}

}  // namespace
}  // namespace partita::test
