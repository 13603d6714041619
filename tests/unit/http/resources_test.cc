// What HTTP clients may do, in a whole broker with rules in force. Today it serves without any.

#include "broker/http/resources.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <string>

#include "broker/http/broker_identity.h"
#include "broker/http/event_feed.h"
#include "broker/http/jobs.h"
#include "broker/runtime/loop/network_statistics.h"
#include "broker/runtime/partitions/turns.h"
#include "schedule/executor.h"
#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/plain_client.h"

namespace partita::http {
namespace {

/// Allows one permission, on one name, and nothing else.
class OnePermission final : public access::Rules {
  public:
    bool allows(const access::Requester& requester, access::Permission permission,
                std::optional<std::string_view> name) const override {
        if (requester.address != "10.0.0.1") return true;  // The Kafka client that prepares the test.
        EXPECT_EQ(requester.principal.text(), "User:ANONYMOUS");
        return permission == allowed && name == allowed_name;
    }

    std::optional<access::Permission> allowed;
    std::string_view allowed_name;
};

class Recorder final : public Exchange {
  public:
    Recorder(Method method, std::string_view path) : request_(*parse_target(path)) { request_.method = method; }

    const Request& request() const override { return request_; }
    const Caller& caller() const override { return caller_; }
    void respond(Status given, std::string_view, std::string text) override { note(given, std::move(text)); }
    void refuse_method(std::string_view) override { note(Status::method_not_allowed, ""); }
    void begin(Status given, std::string_view) override { note(given, ""); }
    bool write(std::string) override { return true; }
    void end() override {}
    bool offer(std::string) override { return true; }
    bool is_gone() const override { return false; }

    std::optional<Status> status;
    std::string body;

  private:
    void note(Status given, std::string text) {
        status = given;
        body = std::move(text);
    }

    Request request_;
    const Caller caller_{.address = "10.0.0.1"};
};

class NoConnections final : public runtime::NetworkStatistics {
  public:
    std::int32_t connection_count() const override { return 0; }
    std::uint64_t received_bytes() const override { return 0; }
    std::uint64_t sent_bytes() const override { return 0; }
};

class Resources : public ::testing::Test {
  protected:
    void SetUp() override {
        broker_ = test::InProcessBroker::start({.data_directory = directory_ / "data", .access_rules = &rules_});
        ASSERT_NE(broker_, nullptr);
        test::PlainClient client(broker_->port());
        ASSERT_EQ(client.create_topic("t", 1).error, ErrorCode::none);
        identity_.emplace(broker_->services(), "127.0.0.1:0");
        events_.emplace(broker_->services().findings, broker_->services().authorizer);
    }
    void TearDown() override {
        jobs_.stop();
        events_->stop();
        EXPECT_TRUE(broker_->stop());
    }
    /// The answer when the caller has this permission alone.
    std::shared_ptr<Recorder> ask(Method method, std::string_view path, std::optional<access::Permission> allowed = std::nullopt,
                                  std::string_view name = "t") {
        rules_.allowed = allowed;
        rules_.allowed_name = name;
        auto exchange = std::make_shared<Recorder>(method, path);
        std::promise<void> served;
        broker_->services().turns.first_reactor().post([&] {
            serve({broker_->services(), network_, jobs_, *events_, *identity_}, exchange);
            served.set_value();
        });
        served.get_future().wait();
        return exchange;
    }

    test::TemporaryDirectory directory_;
    OnePermission rules_;
    std::unique_ptr<test::InProcessBroker> broker_;
    NoConnections network_;
    Jobs jobs_{real_schedule().executor};
    std::optional<BrokerIdentity> identity_;
    std::optional<EventFeed> events_;
};

TEST_F(Resources, WhoMayNothingIsToldWhatIsMissingAndNothingElse) {
    const struct {
        Method method;
        std::string_view path;
        access::Permission need;
        std::string_view name = "t";
    } kAsked[] = {
        {Method::get, "/metrics", access::kDescribeCluster, access::kClusterName},
        {Method::get, "/v1/topics/t/expansions", access::kDescribeTopic},
        {Method::get, "/v1/topics/t/producers", access::kReadTopic},
        {Method::get, "/v1/topics/t/protection", access::kDescribeTopic},
        // Without a target it is refused for another reason by whoever may ask.
        {Method::get, "/v1/topics/t/expansion", access::kReadTopic},
        {Method::delete_, "/v1/topics/t/seeds", access::kAlterTopic},
        {Method::post, "/v1/topics/t/nudge", access::kAlterTopic},
        {Method::post, "/v1/topics/t/visibility", access::kAlterTopicConfigs},
    };
    for (const auto& [method, path, need, name] : kAsked) {
        const auto refused = ask(method, path);
        EXPECT_EQ(refused->status, Status::forbidden) << path;
        EXPECT_EQ(refused->body, "{\"error\":\"User:ANONYMOUS lacks " + to_text(need) + " on " + std::string(name) + "\"}\n");
        const auto served = ask(method, path, need, name);
        EXPECT_NE(served->status, Status::forbidden) << path;
    }
}

TEST_F(Resources, ATopicThatTheCallerMayNotKnowIsNoMoreThanOneThatIsNotThere) {
    EXPECT_EQ(ask(Method::get, "/v1/topics/t/expansions")->status, ask(Method::get, "/v1/topics/no/expansions")->status);
    EXPECT_EQ(ask(Method::get, "/v1/topics/no/expansions", access::kDescribeTopic, "no")->status, Status::not_found);
}

TEST_F(Resources, HealthIsToldToEverybody) {
    EXPECT_EQ(ask(Method::get, "/health/live")->status, Status::ok);
    EXPECT_EQ(ask(Method::get, "/health/ready")->status, Status::ok);
}

}  // namespace
}  // namespace partita::http
