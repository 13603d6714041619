// What HTTP clients may do, in a whole broker with rules in force (today it serves without any), and what they are told.

#include "broker/http/resources.h"

#include <gmock/gmock.h>

#include <chrono>
#include <fstream>
#include <future>
#include <iterator>
#include <latch>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
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
#include "tests/support/tests_directory.h"

namespace partita::http {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

/// Allows one permission, on one name, and nothing else; or everything.
class OnePermission final : public access::Rules {
  public:
    bool allows(const access::Requester& requester, access::Permission permission,
                std::optional<std::string_view> name) const override {
        if (requester.address != "10.0.0.1") return true;  // The Kafka client that prepares the test.
        EXPECT_EQ(requester.principal.text(), "User:ANONYMOUS");
        if (allows_all) return true;
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
    const Caller& caller() const override { return caller_; }
    void respond(Status given, std::string_view, std::string text) override { note(given, std::move(text)); }
    void refuse_method(std::string_view) override { note(Status::method_not_allowed, ""); }
    void begin(Status given, std::string_view) override { note(given, ""); }
    bool write(std::string) override { return true; }
    void end() override {}
    bool offer(std::string) override { return true; }
    bool is_gone() const override { return false; }

    /// False when no answer comes.
    bool wait() { return answered_.get_future().wait_for(std::chrono::seconds(10)) == std::future_status::ready; }

    std::optional<Status> status;
    std::string body;

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
        events_.emplace(broker_->services().findings, broker_->services().authorizer);
    }
    void TearDown() override {
        looks_.stop();
        plans_.stop();
        events_->stop();
        client_.reset();
        EXPECT_TRUE(broker_->stop());
    }
    /// The answer when the caller has this permission alone.
    std::shared_ptr<Recorder> ask(Method method, std::string_view path, std::optional<access::Permission> allowed = std::nullopt,
                                  std::string_view name = "t") {
        rules_.allowed = allowed;
        rules_.allowed_name = name;
        auto exchange = std::make_shared<Recorder>(method, path);
        broker_->services().turns.first_reactor().post(
            [&] { serve({broker_->services(), network_, plans_, looks_, *events_, *identity_}, exchange); });
        EXPECT_TRUE(exchange->wait()) << path;
        return exchange;
    }
    /// What a caller is told who may do everything.
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
};

TEST_F(Resources, WhoMayNothingIsToldWhatIsMissingAndNothingElse) {
    const struct {
        Method method;
        std::string_view path;
        access::Permission need;
        std::string_view name = "t";
    } kAsked[] = {
        {Method::get, "/metrics", access::kDescribeCluster, access::kClusterName},
        {Method::get, "/v1/topics/t", access::kDescribeTopic},
        {Method::get, "/v1/topics/t/groups", access::kDescribeTopic},
        {Method::get, "/v1/topics/t/partitions/0/records", access::kReadTopic},
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

TEST_F(Resources, TopicsAreListedToWhoMayDescribeThem) {
    ASSERT_EQ(client_->create_topic("u", 2).error, ErrorCode::none);
    const auto names = [](const json& object) {
        std::vector<std::string> names;
        for (const json& topic : object["topics"]) names.push_back(topic["topic"]);
        return names;
    };
    EXPECT_THAT(names(json::parse(ask(Method::get, "/v1/topics")->body)), ElementsAre());
    EXPECT_THAT(names(json::parse(ask(Method::get, "/v1/topics", access::kDescribeTopic, "u")->body)), ElementsAre("u"));
    EXPECT_THAT(names(told("/v1/topics")), ElementsAre("t", "u"));
}

TEST_F(Resources, TopicTellsWhatItsPartitionsHold) {
    for (const char* value : {"a", "b", "c"}) ASSERT_EQ(client_->produce_value("t", 0, value).error, ErrorCode::none);
    ASSERT_EQ(client_->delete_records("t", 0, 1), ErrorCode::none);
    const json topic = told("/v1/topics/t");
    EXPECT_EQ(topic["offsets"], 2);
    ASSERT_EQ(topic["partitions"].size(), 1u);
    json partition = topic["partitions"][0];
    EXPECT_EQ(partition["bytes"], topic["bytes"]);
    EXPECT_GT(partition["bytes"], 0);
    partition.erase("bytes");
    EXPECT_EQ(partition, json::parse(R"({"partition": 0, "start": 1, "stable_end": 3, "end": 3})"));

    json listed = told("/v1/topics")["topics"][0];
    EXPECT_EQ(listed["partitions"], 1);
    for (const char* name : {"topic", "topic_id", "internal", "bytes", "offsets"}) EXPECT_EQ(listed[name], topic[name]) << name;
}

TEST_F(Resources, GroupsAreToldWithTheirLagToWhoMayDescribeThem) {
    for (const char* value : {"a", "b", "c"}) ASSERT_EQ(client_->produce_value("t", 0, value).error, ErrorCode::none);
    ASSERT_EQ(client_->commit("g", "t", 0, 1), ErrorCode::none);
    EXPECT_EQ(told("/v1/topics/t/groups")["groups"], json::parse(R"([{"group": "g", "members": 0, "lag": 2, "partitions":
              [{"partition": 0, "committed": 1, "end": 3, "lag": 2}]}])"));
    EXPECT_EQ(json::parse(ask(Method::get, "/v1/topics/t/groups", access::kDescribeTopic)->body)["groups"], json::array());
}

TEST_F(Resources, RecordsComeInPagesThatSayWhereTheNextBegins) {
    for (const char* value : {"a", "b", "\xff"}) ASSERT_EQ(client_->produce_value("t", 0, value).error, ErrorCode::none);
    const json first = told("/v1/topics/t/partitions/0/records?limit=2");
    ASSERT_EQ(first["records"].size(), 2u);
    EXPECT_EQ(first["records"][1]["offset"], 1);
    EXPECT_EQ(first["records"][1]["value"], "b");
    EXPECT_EQ(first["records"][1]["key"], "key");
    EXPECT_EQ(first["next"], 2);
    EXPECT_EQ(first["end"], 3);
    const json last = told("/v1/topics/t/partitions/0/records?from=2");
    ASSERT_EQ(last["records"].size(), 1u);
    EXPECT_EQ(last["records"][0]["value_hex"], "ff");
    EXPECT_EQ(last["next"], 3);
    EXPECT_EQ(told("/v1/topics/t/partitions/0/records?from=3")["records"], json::array());
}

TEST_F(Resources, RecordsThatAreNotThereAreRefusedWithAReason) {
    const struct {
        std::string_view question;
        Status status;
        std::string_view error;
    } kAsked[] = {
        {"0/records?from=1", Status::not_found, "offset 1 is outside of [0, 0]"},
        {"1/records", Status::not_found, "t has no partition 1"},
        {"x/records", Status::not_found, "t has no partition x"},
        {"0/records?from=-1", Status::bad_request, "from=-1 is no number of at least 0"},
        {"0/records?limit=0", Status::bad_request, "limit=0 is no number of at least 1 and at most 1000"},
        {"0/records?limit=1001", Status::bad_request, "limit=1001 is no number of at least 1 and at most 1000"},
    };
    for (const auto& [question, status, error] : kAsked) {
        const auto answer = ask(Method::get, "/v1/topics/t/partitions/" + std::string(question), access::kReadTopic);
        EXPECT_EQ(answer->status, status) << question;
        EXPECT_EQ(json::parse(answer->body)["error"], error) << question;
    }
}

TEST_F(Resources, ProducerIdsOfTheLogsAreTold) {
    ASSERT_EQ(client_->produce_value("t", 0, "a", 7, 0, 1234).error, ErrorCode::none);
    EXPECT_EQ(told("/v1/topics/t/producers")["producer_ids"],
              json::parse(R"([{"producer_id": 7, "epoch": 0, "last_write_ms": 1234, "partitions": [0],
                               "open_transactions": []}])"));
}

TEST_F(Resources, WhoAsksForOneLookTooManyIsToldToAskAgain) {
    // The threads of the looks outlive this test by a moment.
    const auto asked = std::make_shared<std::latch>(1);
    for (std::size_t look = 0; look < Surroundings::kLooksMax; ++look) {
        EXPECT_TRUE(looks_.start([asked] { asked->wait(); }));
    }
    EXPECT_EQ(ask(Method::get, "/v1/topics")->status, Status::unavailable);
    asked->count_down();
}

TEST_F(Resources, PageAboutThemNamesEachPath) {
    const auto paths = ask(Method::get, "/no")->body;
    std::ifstream file(test::tests_directory().parent_path() / "docs" / "http.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    constexpr std::string_view kBefore = "there are ";
    std::istringstream list(paths.substr(kBefore.size(), paths.size() - kBefore.size() - 1));
    std::size_t rows = 0;
    for (std::string path; std::getline(list >> std::ws, path, ',');) {
        EXPECT_NE(page.find("| `" + path + "` |"), std::string::npos) << path;
        ++rows;
    }
    EXPECT_EQ(rows, 16u);
}

TEST_F(Resources, HealthIsToldToEverybody) {
    EXPECT_EQ(ask(Method::get, "/health/live")->status, Status::ok);
    EXPECT_EQ(ask(Method::get, "/health/ready")->status, Status::ok);
}

}  // namespace
}  // namespace partita::http
