#pragma once

#include <gmock/gmock.h>

#include <chrono>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/event_feed.h"
#include "broker/http/jobs.h"
#include "broker/http/local_requests.h"
#include "broker/http/resources.h"
#include "broker/logs/turns.h"
#include "broker/runtime/loop/network_statistics.h"
#include "schedule/executor.h"
#include "tests/support/broker_process.h"
#include "tests/support/in_process_broker.h"
#include "tests/support/plain_client.h"

namespace partita::http {

using nlohmann::json;

/// Rules that allow one permission on one name and nothing else, or everything.
class OnePermission final : public access::Rules {
  public:
    bool allows(const access::Requester& requester, access::Permission permission,
                std::optional<std::string_view> name) const override {
        if (requester.address != "10.0.0.1") {
            return true;  // The Kafka client that prepares the test.
        }
        EXPECT_EQ(requester.principal.text(), "User:ANONYMOUS");
        if (allows_all) {
            return true;
        }
        return permission == allowed && name == allowed_name;
    }

    bool allows_all = false;
    std::optional<access::Permission> allowed;
    std::string_view allowed_name;
};

class Recorder final : public Exchange {
  public:
    Recorder(Method method, std::string_view path) : request_(*parse_target(path)) { request_.method = method; }

    const Request& request() const override { return request_; }
    Request& change_request() { return request_; }
    const Caller& caller() const override { return caller_; }
    void respond(Status given, std::string_view, std::string text, Headers given_headers) override {
        headers = std::move(given_headers);
        note(given, std::move(text));
    }
    void refuse_method(std::string_view allowed) override { note(Status::method_not_allowed, std::string(allowed)); }
    void begin(Status given, std::string_view) override { note(given, ""); }
    bool write(std::string) override { return true; }
    void end() override {}
    bool offer(std::string) override { return true; }
    bool is_gone() const override { return false; }

    /// False when no answer comes.
    bool wait() { return answered_.get_future().wait_for(std::chrono::seconds(10)) == std::future_status::ready; }

    std::optional<Status> status;
    std::string body;
    Headers headers;

  private:
    void note(Status given, std::string text) {
        status = given;
        body = std::move(text);
        answered_.set_value();
    }

    std::promise<void> answered_;
    Request request_;
    const Caller caller_{.address = "10.0.0.1"};
};

class NoConnections final : public runtime::NetworkStatistics {
  public:
    runtime::ConnectionCounts connections() const override { return {}; }
    std::int32_t connection_count() const override { return 0; }
    std::uint64_t received_bytes() const override { return 0; }
    std::uint64_t sent_bytes() const override { return 0; }
};

class Resources : public ::testing::Test {
  protected:
    void SetUp() override {
        broker_ = test::InProcessBroker::start({.data_directory = directory_ / "data", .access_rules = &rules_});
        ASSERT_NE(broker_, nullptr);
        client_.emplace(broker_->port());
        ASSERT_EQ(client_->create_topic("t", 1).error, ErrorCode::none);
        identity_.emplace(broker_->services(), "127.0.0.1:0");
        events_.emplace(broker_->services().insight.findings, broker_->services().authorizer);
        local_requests_.emplace(broker_->services());
    }
    void TearDown() override {
        looks_.stop();
        plans_.stop();
        events_->stop();
        client_.reset();
        EXPECT_TRUE(broker_->stop());
    }
    /// The answer when the caller has only this permission.
    std::shared_ptr<Recorder> ask(Method method, std::string_view path, std::optional<access::Permission> allowed = std::nullopt,
                                  std::string_view name = "t", std::string_view if_none_match = {}) {
        rules_.allowed = allowed;
        rules_.allowed_name = name;
        auto exchange = std::make_shared<Recorder>(method, path);
        exchange->change_request().if_none_match = if_none_match;
        return answered(exchange, path);
    }
    /// The answer to a POST of a caller with the permissions so far.
    std::shared_ptr<Recorder> change(std::string_view path, std::string_view body, std::string_view type = "application/json") {
        auto exchange = std::make_shared<Recorder>(Method::post, path);
        exchange->change_request().body = body;
        exchange->change_request().content_type = type;
        return answered(exchange, path);
    }
    std::shared_ptr<Recorder> answered(const std::shared_ptr<Recorder>& exchange, std::string_view path) {
        broker_->services().turns.first_reactor().post(
            [&] { serve({broker_->services(), network_, plans_, looks_, *events_, *identity_, *local_requests_}, exchange); });
        EXPECT_TRUE(exchange->wait()) << path;
        return exchange;
    }
    /// The answer to a caller that may do everything.
    json told(std::string_view path) {
        rules_.allows_all = true;
        const auto answer = ask(Method::get, path);
        rules_.allows_all = false;
        EXPECT_EQ(answer->status, Status::ok) << path << ": " << answer->body;
        return json::parse(answer->body);
    }

    test::TemporaryDirectory directory_;
    OnePermission rules_;
    std::unique_ptr<test::InProcessBroker> broker_;
    std::optional<test::PlainClient> client_;
    NoConnections network_;
    Jobs plans_{real_schedule().executor, Surroundings::kPlansMax};
    Jobs looks_{real_schedule().executor, Surroundings::kLooksMax};
    std::optional<BrokerIdentity> identity_;
    std::optional<EventFeed> events_;
    std::optional<LocalRequests> local_requests_;
};

/// A request, the permission that it needs, and on which name.
struct NeedfulRequest {
    Method method;
    std::string_view path;
    access::Permission need;
    std::string_view name = "t";
};

/// The broker refuses each request of a caller without permissions, and names the missing one. It serves a caller that has that
/// permission.
class NeedfulResources : public Resources {
  protected:
    void expect_needs(std::span<const NeedfulRequest> requests) {
        for (const auto& [method, path, need, name] : requests) {
            const auto refused = ask(method, path);
            EXPECT_EQ(refused->status, Status::forbidden) << path;
            EXPECT_EQ(refused->body, "{\"error\":\"User:ANONYMOUS lacks " + to_text(need) + " on " + std::string(name) + "\"}\n");
            const auto served = ask(method, path, need, name);
            EXPECT_NE(served->status, Status::forbidden) << path;
        }
    }
};

}  // namespace partita::http
