#include "broker/http/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace partita::http {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ParseTarget, DecodesPathAndQuery) {
    const auto request = parse_target("/v1/topics/a%2Fb%20c/expansion?to=12&partitioner=java%2B&keys");
    ASSERT_TRUE(request.has_value());
    EXPECT_THAT(request->path, ElementsAre("v1", "topics", "a/b c", "expansion"));
    EXPECT_EQ(request->parameter("to"), "12");
    EXPECT_EQ(request->parameter("partitioner"), "java+");
    EXPECT_EQ(request->parameter("keys"), "");
    EXPECT_EQ(request->parameter("records"), std::nullopt);
}

TEST(ParseTarget, TakesPathsWithoutParts) {
    EXPECT_THAT(parse_target("/")->path, IsEmpty());
    EXPECT_THAT(parse_target("")->path, IsEmpty());
    EXPECT_THAT(parse_target("//health///live/")->path, ElementsAre("health", "live"));
    EXPECT_THAT(parse_target("/x?")->path, ElementsAre("x"));
}

TEST(ParseTarget, LastOfEqualNamesCounts) { EXPECT_EQ(parse_target("/x?to=1&to=2&&=3")->parameter("to"), "2"); }

TEST(ParseTarget, RefusesPercentSignsWithoutTwoDigits) {
    for (const char* target : {"/%", "/%1", "/%zz", "/x?%", "/x?a=%4", "/x?a=%g0"}) {
        EXPECT_FALSE(parse_target(target).has_value()) << target;
    }
}

TEST(ForeignPages, AreThoseOfOtherHosts) {
    for (const char* origin : {"http://localhost:3000", "https://127.0.0.1", "http://[::1]:8092", "http://broker.lan:80"}) {
        EXPECT_FALSE(is_of_foreign_page(origin, "broker.lan:8092")) << origin;
    }
    for (const char* origin : {"https://example.org", "http://127.0.0.1.example.org", "http://localhost.example.org:8092", "null",
                               "", "http://", "http://[::2]:8092", "http://broker.lan.example.org"}) {
        EXPECT_TRUE(is_of_foreign_page(origin, "broker.lan:8092")) << origin;
    }
    EXPECT_FALSE(is_of_foreign_page("http://[fd00::1]", "[fd00::1]:8092"));
}

TEST(OwnHosts, AreAddressesNamesOfOneLabelAndTheNamesOfTheBroker) {
    const std::vector<std::string> names = {"Broker.lan", ""};
    for (const char* host : {"", "localhost", "localhost:8092", "LOCALHOST.", "kafka.localhost:80", "127.0.0.1:8092", "10.1.2.3",
                             "[::1]:8092", "[fd00::1]", "broker.LAN:8092", "broker.lan.", "kafka:8092"}) {
        EXPECT_TRUE(is_own_host(host, names)) << host;
    }
    for (const char* host : {"example.org", "example.org:8092", "localhost.example.org", "127.0.0.1.example.org:8092",
                             "broker.lan.example.org", "[example.org]", "::1", "127.1", "a.broker.lan"}) {
        EXPECT_FALSE(is_own_host(host, names)) << host;
    }
}

class AnswerLine final : public Exchange {
  public:
    const Request& request() const override { return request_; }
    const Caller& caller() const override { return caller_; }
    void respond(Status status, std::string_view type, std::string body, Headers) override {
        answer = std::to_string(static_cast<int>(status)) + " " + std::string(type) + " " + body;
    }
    void refuse_method(std::string_view) override {}
    void begin(Status, std::string_view) override {}
    bool write(std::string) override { return true; }
    void end() override {}
    bool offer(std::string) override { return true; }
    bool is_gone() const override { return false; }
    std::string answer;

  private:
    Request request_;
    Caller caller_;
};

TEST(RespondError, IsJsonWhateverNamesTheSentenceHolds) {
    AnswerLine exchange;
    respond_error(exchange, Status::not_found, "there is no topic \"\xff\n");
    EXPECT_EQ(exchange.answer, "404 application/json {\"error\":\"there is no topic \\\"\xef\xbf\xbd\\n\"}\n");
}

}  // namespace
}  // namespace partita::http
