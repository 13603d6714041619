// Tests a Kafka listener whose requests are served by something else than this broker's handlers.

#include "broker/kafka/request_server.h"

#include <gtest/gtest.h>

#include "protocol/messages/03_metadata.h"
#include "protocol/messages/18_api_versions.h"
#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/wire_client.h"

namespace partita::kafka {
namespace {

/// Stands for another cluster. It answers only Metadata, later and from another thread; the broker's own handlers serve the rest.
class Elsewhere final : public RequestServer {
  public:
    void serve(runtime::RequestContext& context) override {
        if (context.api_key() != ApiKey::metadata) {
            local_handlers().serve(context);
            return;
        }
        MetadataResponse response;
        response.cluster_id = "elsewhere";
        logs::Turns& turns = context.services.turns;
        const auto pending = context.park();
        std::thread([&turns, pending, response] {
            turns.deliver(pending.target, runtime::encode_reply(pending, response));
        }).join();
    }
};

TEST(RequestServer, OfAnotherKindServesWhatAClientAsks) {
    Elsewhere elsewhere;
    const test::TemporaryDirectory directory;
    const auto broker = test::InProcessBroker::start({.data_directory = directory / "data", .requests = &elsewhere});
    ASSERT_NE(broker, nullptr);
    test::WireClient client(broker->port());
    EXPECT_NE(client.call<ApiVersionsResponse>(0, ApiVersionsRequest()), nullptr) << client.failure();
    for (int time = 0; time < 2; ++time) {
        const auto* reply = client.call<MetadataResponse>(9, MetadataRequest());
        ASSERT_NE(reply, nullptr) << client.failure();
        EXPECT_EQ(reply->cluster_id, "elsewhere");
    }
    EXPECT_TRUE(broker->stop());
}

}  // namespace
}  // namespace partita::kafka
