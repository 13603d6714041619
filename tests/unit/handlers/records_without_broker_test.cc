// Tests Produce and Fetch with logs and a table of topics, and nothing else of a broker.

#include <gmock/gmock.h>

#include <optional>

#include "broker/access/authorizer.h"
#include "broker/config/current_config.h"
#include "broker/handlers/record_handlers.h"
#include "broker/logs/placement.h"
#include "broker/runtime/clients/client_fetch_sessions.h"
#include "broker/runtime/clients/client_throttles.h"
#include "protocol/codec.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/request_header.h"
#include "tests/support/three_nodes.h"
#include "tests/unit/logs/log_service_world.h"

namespace partita::handlers {
namespace {

using ::testing::ElementsAre;

constexpr std::int16_t kProduceByName = 12;
constexpr std::int16_t kFetchByName = 12;

class RecordsWithoutBroker : public ::testing::Test, private runtime::ReplyReceiver {
  protected:
    RecordsWithoutBroker() {
        world_.connection().listener =
            std::make_shared<runtime::ListenerView>(runtime::ListenerView{.name = "PLAINTEXT", .node = BrokerId{1}});
        id_ = world_.turns().first_reactor().add_receiver(*this);
    }
    ~RecordsWithoutBroker() override { world_.turns().first_reactor().remove_receiver(id_); }

    /// Serves the request. The reply comes to `answer`, at the end of the turn or before.
    template <class Request>
    void serve(void (*handler)(runtime::ClientRequest&, const runtime::RecordServices&), ApiKey key, std::int16_t version,
               const Request& request) {
        reply_.reset();
        close_reason_.clear();
        body_.clear();
        ASSERT_TRUE(encode(Request::schema, &request, version, body_));
        api_ = find_api(key);
        version_ = version;
        runtime::ClientRequest context(
            {world_.clock(), throttles_, authorizer_}, world_.turn(), world_.connection(),
            {.target = {.reactor = 0, .connection = id_, .slot = 0}, .api = api_, .api_version = version, .correlation_id = 1},
            "c", {body_.data(), body_.size()});
        context.request_bytes = body_.size();
        handler(context, services_);
        if (context.outcome() == runtime::ClientRequest::Outcome::replied) {
            reply_ = context.take_reply();
        } else if (context.outcome() == runtime::ClientRequest::Outcome::closed) {
            close_reason_ = context.close_reason();
        }
    }
    void end_turn() {
        world_.end_turn();
        (void)world_.turns().first_reactor().step();
    }
    template <class Response>
    const Response* answer() {
        if (!reply_) {
            return nullptr;
        }
        constexpr std::size_t kSizePrefix = 4;
        const Bytes frame = reply_->bytes.bytes();
        const auto header = parse_response_header(*api_, version_, frame.subspan(kSizePrefix));
        if (!header) {
            return nullptr;
        }
        auto decoded = decode<Response>(frame.subspan(kSizePrefix + header->size), version_, arena_);
        return decoded ? new (arena_.allocate_unlimited(sizeof(Response), alignof(Response))) Response(*decoded) : nullptr;
    }

    void produce(std::string_view topic, std::int32_t partition, std::int16_t acks = -1) {
        batches_.push_back(test::make_batch(test::TestBatch{}));
        ProduceRequest::PartitionProduceData data{.index = partition, .records = Bytes(batches_.back())};
        ProduceRequest::TopicProduceData asked{.name = topic, .partition_data = {&data, 1}};
        serve(produce_records, ApiKey::produce, kProduceByName,
              ProduceRequest{.acks = acks, .timeout_ms = 1000, .topic_data = {&asked, 1}});
    }
    const ProduceResponse::PartitionProduceResponse& produced() {
        const auto* response = answer<ProduceResponse>();
        static const ProduceResponse::PartitionProduceResponse kNone{.error_code = ErrorCode::unknown_server_error};
        return response == nullptr ? kNone : response->responses[0].partition_responses[0];
    }
    void fetch(std::string_view topic, std::int32_t partition, std::int32_t wait_ms = 0, std::string_view rack = {}) {
        FetchRequest::FetchPartition wanted{.partition = partition, .partition_max_bytes = 1 << 20};
        FetchRequest::FetchTopic asked{.topic = topic, .partitions = {&wanted, 1}};
        serve(fetch_records, ApiKey::fetch, kFetchByName,
              FetchRequest{.max_wait_ms = wait_ms, .min_bytes = 1, .max_bytes = 1 << 20, .topics = {&asked, 1}, .rack_id = rack});
        if (wait_ms == 0 || !rack.empty()) {
            end_turn();
        }
    }
    const FetchResponse::PartitionData& fetched() {
        const auto* response = answer<FetchResponse>();
        static const FetchResponse::PartitionData kNone{.error_code = ErrorCode::unknown_server_error};
        return response == nullptr ? kNone : response->responses[0].partitions[0];
    }

    test::LogServiceWorld world_;
    config::CurrentConfig config_{std::make_shared<const config::BrokerConfig>()};
    runtime::ClientFetchSessions sessions_{10};
    runtime::ClientThrottles throttles_{catalog::QuotaWindows{}};
    access::Authorizer authorizer_{nullptr};
    /// The second one leads partition 1.
    test::ThreeNodes nodes_;
    logs::Placement placement_{BrokerId{1}, &nodes_};
    runtime::RecordServices services_{world_.appender(), world_.reader(), world_.turns(), placement_, sessions_, config_};
    std::optional<runtime::Reply> reply_;
    std::string close_reason_;

  private:
    void fill_slot(std::uint64_t, runtime::Reply&& reply) override { reply_ = std::move(reply); }
    void send_ready() override {}
    void read_again() override {}

    std::uint64_t id_ = 0;
    const ApiInfo* api_ = nullptr;
    std::int16_t version_ = 0;
    ByteBuffer body_;
    Arena arena_;
    std::vector<std::vector<std::byte>> batches_;
};

TEST_F(RecordsWithoutBroker, AProduceIsAnsweredWhenTheTurnHasWrittenIt) {
    produce("t", 0);
    EXPECT_FALSE(reply_);
    end_turn();
    EXPECT_EQ(produced().error_code, ErrorCode::none);
    EXPECT_EQ(produced().base_offset, 0);
    produce("t", 0);
    end_turn();
    EXPECT_EQ(produced().base_offset, 1);
}

TEST_F(RecordsWithoutBroker, AProduceToWhatIsNotThereIsToldSo) {
    produce("t", 7);
    end_turn();
    EXPECT_EQ(produced().error_code, ErrorCode::unknown_topic_or_partition);
    produce("other", 0);
    end_turn();
    EXPECT_EQ(produced().error_code, ErrorCode::unknown_topic_or_partition);
}

TEST_F(RecordsWithoutBroker, AcksThatThereAreNoneOfAreRefusedAndNothingIsWritten) {
    produce("t", 0, 5);
    end_turn();
    EXPECT_EQ(produced().error_code, ErrorCode::invalid_required_acks);
    EXPECT_EQ(world_.log(0).log_end_offset(), Offset{0});
}

TEST_F(RecordsWithoutBroker, WithoutAcksAFailureClosesTheConnection) {
    produce("t", 0, 0);
    end_turn();
    ASSERT_TRUE(reply_);
    EXPECT_FALSE(reply_->close);
    produce("t", 7, 0);
    end_turn();
    ASSERT_TRUE(reply_);
    EXPECT_TRUE(reply_->close);
}

TEST_F(RecordsWithoutBroker, APartitionThatAnotherNodeLeadsIsNotServed) {
    produce("t", 1);
    end_turn();
    EXPECT_EQ(produced().error_code, ErrorCode::not_leader_or_follower);
    EXPECT_EQ(produced().current_leader.leader_id, 2) << "the client learns where the leader is (KIP-951)";
    EXPECT_EQ(produced().current_leader.leader_epoch, 0);
    const auto* response = answer<ProduceResponse>();
    ASSERT_EQ(response->node_endpoints.count(), 1U);
    EXPECT_EQ(response->node_endpoints[0].node_id, 2);
    EXPECT_EQ(response->node_endpoints[0].port, 9102);
    EXPECT_EQ(response->node_endpoints[0].rack, "second");
    fetch("t", 1);
    EXPECT_EQ(fetched().error_code, ErrorCode::not_leader_or_follower);
}

TEST_F(RecordsWithoutBroker, AClientAtTheRightNodeIsToldOfNoLeader) {
    produce("t", 0);
    end_turn();
    EXPECT_EQ(produced().current_leader.leader_id, -1);
    EXPECT_EQ(answer<ProduceResponse>()->node_endpoints.count(), 0U);
}

TEST_F(RecordsWithoutBroker, AConsumerReadsFromAFollowerThatHasTheRecords) {
    nodes_.hold_everything();
    fetch("t", 1);
    EXPECT_EQ(fetched().error_code, ErrorCode::none);
    produce("t", 1);
    end_turn();
    EXPECT_EQ(produced().error_code, ErrorCode::not_leader_or_follower) << "but only the leader takes any";
}

TEST_F(RecordsWithoutBroker, AConsumerIsSentToTheReplicaOfItsRackAtOnce) {
    produce("t", 0);
    end_turn();
    fetch("t", 0, 60'000, "second");
    EXPECT_EQ(fetched().error_code, ErrorCode::none);
    EXPECT_EQ(fetched().preferred_read_replica, 2);
    EXPECT_EQ(fetched().high_watermark, 1);
    EXPECT_TRUE(fetched().records.bytes().empty());
    fetch("t", 0, 0, "first");
    EXPECT_EQ(fetched().preferred_read_replica, -1);
    EXPECT_FALSE(fetched().records.bytes().empty());
}

TEST_F(RecordsWithoutBroker, AFetchIsAnsweredAtOnceWithWhatThereIs) {
    fetch("t", 0);
    EXPECT_EQ(fetched().error_code, ErrorCode::none);
    EXPECT_EQ(fetched().high_watermark, 0);
    produce("t", 0);
    end_turn();
    fetch("t", 0);
    EXPECT_EQ(fetched().high_watermark, 1);
    EXPECT_GT(fetched().records.bytes().size(), 0U);
}

TEST_F(RecordsWithoutBroker, AFetchWaitsForRecords) {
    fetch("t", 0, 60'000);
    EXPECT_FALSE(reply_);
    auto waiting = std::exchange(world_.connection().parked_fetch, fetch::kNoWaiter);
    EXPECT_NE(waiting, fetch::kNoWaiter);
    auto batch = test::make_batch(test::TestBatch{});
    ASSERT_TRUE(world_.log(0).append(batch, {.leader_epoch = LeaderEpoch{0}, .now = {1}}));
    world_.turn().appended(*world_.partition(0), batch.size());
    end_turn();
    EXPECT_EQ(fetched().high_watermark, 1);
}

/// A fault for tests of clients. No handler knows of it.
class LostDisk final : public logs::AppendStep {
  public:
    [[nodiscard]] logs::Outcome admit_batch(const logs::AppendRequest&, const logs::Append&, logs::Turn&) override {
        return logs::Outcome::try_again;
    }
};

TEST_F(RecordsWithoutBroker, AStepThatIsAddedIsHeardByKafkasClients) {
    LostDisk fault;
    world_.appender().steps().add(fault, {logs::AppendPoint::admit_batch});
    produce("t", 0);
    end_turn();
    EXPECT_EQ(produced().error_code, ErrorCode::not_enough_replicas);
}

}  // namespace
}  // namespace partita::handlers
