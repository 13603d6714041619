// Tests which thread serves a connection, and that its client cannot tell when the thread changes.

#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "protocol/messages/00_produce.h"
#include "tests/support/adjusted_clock.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/plain_client.h"

namespace partita::test {
namespace {

using ::testing::ElementsAre;

constexpr std::int16_t kProduceVersion = 7;
constexpr std::chrono::seconds kDeadline{60};

class ConnectionMoves : public ::testing::Test {
  protected:
    void start(InProcessBroker::Options options) {
        options.data_directory = data_directory_;
        broker_ = InProcessBroker::start(options);
        ASSERT_NE(broker_, nullptr);
    }
    void TearDown() override {
        clients_.clear();
        broker_.reset();
        std::filesystem::remove_all(data_directory_);
    }
    void connect(int count) {
        for (int i = 0; i < count; ++i) {
            clients_.push_back(std::make_unique<PlainClient>(broker_->port()));
            ASSERT_TRUE(clients_.back()->metadata()) << "it is accepted by then";
        }
    }
    [[nodiscard]] std::vector<std::size_t> connections() const {
        std::vector<std::size_t> counts;
        for (const auto& reactor : broker_->services().turns.reactors()) {
            counts.push_back(reactor->receiver_count());
        }
        return counts;
    }

    const std::string data_directory_ = [] {
        std::string directory = "/tmp/partita-connection-moves-XXXXXX";
        return std::string(::mkdtemp(directory.data()));
    }();
    AdjustedClock clock_;
    std::unique_ptr<InProcessBroker> broker_;
    std::vector<std::unique_ptr<PlainClient>> clients_;
};

std::vector<std::byte> produce_frame(int partition, const std::string& value) {
    const std::vector<std::byte> batch = make_batch(std::array{value});
    ProduceRequest::PartitionProduceData data{.index = partition, .records = Bytes(batch)};
    ProduceRequest::TopicProduceData topic{.name = "t"};
    topic.partition_data = {&data, 1};
    ProduceRequest request;
    request.acks = -1;
    request.timeout_ms = 30'000;
    request.topic_data = {&topic, 1};
    return request_frame(kProduceVersion, request);
}

TEST_F(ConnectionMoves, QuietConnectionsShareOneThread) {
    start({});
    connect(6);
    EXPECT_THAT(connections(), ElementsAre(6, 0));
}

TEST_F(ConnectionMoves, ConnectionsAreDealtOutWhenTheyShallNotGather) {
    start({.overrides = {"partita.connections.gather=false"}});
    connect(6);
    EXPECT_THAT(connections(), ElementsAre(3, 3));
}

TEST_F(ConnectionMoves, RequestsOfAConnectionThatMovesAreAnsweredOnceAndInOrder) {
    // With these settings any activity makes a reactor busy, once the clock measures.
    clock_.measures = false;
    start({.placement = {.busy_permille = 1, .gap_permille = 1, .settle_ms = 50, .spare_permille = 0}, .clock = &clock_});
    constexpr int kClients = 4;
    connect(kClients);
    ASSERT_EQ(clients_.front()->create_topic("t", kClients).error, ErrorCode::none);
    std::vector<std::string> values;
    // Exchanges a request and half of the next one, so that a moving connection always has something to take along.
    const auto exchange = [&] {
        values.push_back("value-" + std::to_string(values.size()));
        const std::string second = values.back() + "b";
        for (int i = 0; i < kClients; ++i) {
            WireClient& wire = clients_[static_cast<std::size_t>(i)]->wire();
            std::vector<std::byte> bytes = produce_frame(i, values.back());
            const std::vector<std::byte> next = produce_frame(i, second);
            bytes.insert(bytes.end(), next.begin(), next.begin() + static_cast<std::ptrdiff_t>(next.size() / 2));
            ASSERT_TRUE(wire.send(bytes));
            ASSERT_TRUE(wire.receive());
            ASSERT_TRUE(wire.send(std::span(next).subspan(next.size() / 2)));
            ASSERT_TRUE(wire.receive());
        }
        values.push_back(second);
    };
    ASSERT_THAT(connections(), ElementsAre(kClients, 0));
    clock_.measures = true;
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (connections()[1] == 0) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "no connection moves";
        ASSERT_NO_FATAL_FAILURE(exchange());
    }
    for (int more = 0; more < 100; ++more) {
        ASSERT_NO_FATAL_FAILURE(exchange());
    }
    for (int i = 0; i < kClients; ++i) {
        const auto records = clients_[static_cast<std::size_t>(i)]->read_all("t", i);
        ASSERT_TRUE(records);
        std::vector<std::string> read;
        for (const ReadRecord& record : *records) {
            read.push_back(record.value);
        }
        EXPECT_EQ(read, values) << "partition " << i;
    }
    EXPECT_TRUE(eventually([&] {
        const auto counts = connections();
        return counts[0] + counts[1] == kClients;
    })) << "none is lost on the way";
}

}  // namespace
}  // namespace partita::test
