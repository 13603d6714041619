#include "broker/cli/http_client.h"

#include <gmock/gmock.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "broker/cli/command.h"
#include "tests/unit/cli/answering_server.h"

namespace partita::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::size_t kLineMax = 100;

/// The lines that the client handed out.
struct Lines {
    std::vector<std::string> lines;
    std::expected<HttpAnswer, HttpFailure> answer;
};
Lines read_lines(const std::string& bytes, std::size_t wanted = 1000) {
    AnsweringServer server(bytes);
    Lines read{.lines = {}, .answer = HttpAnswer{}};
    read.answer = read_http_lines(server.address(), "/x", kLineMax, [&](std::string_view line) {
        read.lines.emplace_back(line);
        return read.lines.size() < wanted;
    });
    return read;
}

TEST(HttpClient, WhatIsNoAddressIsAMistakeOnTheCommandLine) {
    for (const std::string address : {"", ":8092", "host:", "host:0", "host:65536", "host:80x", "[::1", "[::1]8092", "a:b:c"}) {
        const auto answer = ask_http(address, HttpMethod::get, "/");
        ASSERT_FALSE(answer.has_value()) << address;
        EXPECT_TRUE(answer.error().is_usage) << address << ": " << answer.error().message;
        EXPECT_EQ(report(answer.error()), kExitUsage);
    }
}

TEST(HttpClient, WhereNobodyAnswersTheCommandBreaksAndSaysWhereItAsked) {
    std::string address;
    {
        AnsweringServer gone("");
        address = gone.address();
    }
    const auto answer = ask_http(address, HttpMethod::get, "/");
    ASSERT_FALSE(answer.has_value());
    EXPECT_FALSE(answer.error().is_usage);
    EXPECT_THAT(answer.error().message, HasSubstr(address));
    EXPECT_EQ(report(answer.error()), kExitBroken);
}

TEST(HttpClient, ANameThatIsNotFoundInTimeHoldsNobody) {
    const auto system = std::make_shared<std::promise<void>>();
    HttpPlace place("broker.example");
    place.network = std::make_shared<client::TcpNetwork>([gone = system->get_future().share()](const std::string&) {
        gone.wait();
        return client::Addresses(std::unexpect, client::TransportFailure{});
    });
    const auto answer = ask_http(place, HttpMethod::get, "/", std::chrono::milliseconds(20));
    system->set_value();
    ASSERT_FALSE(answer.has_value());
    EXPECT_FALSE(answer.error().is_usage);
    EXPECT_THAT(answer.error().message, HasSubstr("no broker's HTTP side answers at broker.example ("));
}

TEST(HttpClient, AsksAndTellsStatusAndBody) {
    AnsweringServer server(AnsweringServer::http("404 Not Found", "{\"error\":\"there is no topic t\"}"));
    const auto answer = ask_http(server.address(), HttpMethod::delete_, "/v1/topics/t/seeds?epoch=1");
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(server.request(), "DELETE /v1/topics/t/seeds?epoch=1 HTTP/1.1");
    EXPECT_EQ(answer->status, 404);
    EXPECT_TRUE(answer->is_refusal());
    EXPECT_FALSE(answer->is_good());
    EXPECT_EQ(answer->error(), "there is no topic t");
}

TEST(HttpClient, AnErrorThatIsNoJsonIsShownByItsBeginning) {
    EXPECT_EQ((HttpAnswer{.status = 502, .body = "bad gateway"}).error(), "bad gateway");
    EXPECT_EQ((HttpAnswer{.status = 502, .body = std::string(5000, 'x')}).error().size(), 200u);
    EXPECT_EQ((HttpAnswer{.status = 500, .body = "{\"error\":7}"}).error(), "{\"error\":7}");
    EXPECT_FALSE((HttpAnswer{.status = 502}).is_refusal());
}

TEST(HttpClient, WhatEndsTooSoonOrSpeaksNoHttpIsAFailure) {
    for (const char* bytes : {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "SSH-2.0-OpenSSH_9.2\r\n\r\n", ""}) {
        AnsweringServer server(bytes);
        const auto answer = ask_http(server.address(), HttpMethod::get, "/");
        ASSERT_FALSE(answer.has_value()) << bytes;
        EXPECT_FALSE(answer.error().is_usage) << bytes;
    }
}

TEST(HttpClient, LinesAreHandedOutWhole) {
    const Lines read = read_lines(AnsweringServer::http("200 OK", "one\n\nthree\nrest"));
    ASSERT_TRUE(read.answer.has_value());
    EXPECT_TRUE(read.answer->is_good());
    EXPECT_THAT(read.lines, ElementsAre("one", "", "three"));
}

TEST(HttpClient, WhoWantsNoMoreLinesGetsNone) {
    EXPECT_THAT(read_lines(AnsweringServer::http("200 OK", "one\ntwo\nthree\n"), 2).lines, ElementsAre("one", "two"));
}

TEST(HttpClient, ALineHasABound) {
    EXPECT_TRUE(read_lines(AnsweringServer::http("200 OK", std::string(kLineMax, 'x') + "\n")).answer.has_value());
    const Lines read = read_lines(AnsweringServer::http("200 OK", std::string(kLineMax + 1, 'x')));
    ASSERT_FALSE(read.answer.has_value());
    EXPECT_THAT(read.answer.error().message, HasSubstr("too long"));
}

TEST(HttpClient, OfARefusalNoLineIsTakenForAnAnswer) {
    const Lines read = read_lines(AnsweringServer::http("400 Bad Request", "{\"error\":\"say ?to=M\"}\n"));
    ASSERT_TRUE(read.answer.has_value());
    EXPECT_THAT(read.lines, ElementsAre());
    EXPECT_EQ(read.answer->error(), "say ?to=M");
}

}  // namespace
}  // namespace partita::cli
