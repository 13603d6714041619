#include "broker/client/http_exchange.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace partita::client {
namespace {

using ::testing::HasSubstr;

/// A server that sends one text and then ends, or waits for ever.
class OneAnswer final : public Network {
  public:
    explicit OneAnswer(std::string answer, std::size_t piece_bytes = 1'000'000)
        : answer_(std::move(answer)), piece_bytes_(piece_bytes) {}

    std::expected<std::unique_ptr<Transport>, TransportFailure> connect(const Endpoint& endpoint, Instant) override {
        asked = endpoint;
        return std::make_unique<Pipe>(*this);
    }
    Clock& clock() override { return clock_; }
    void pause(std::int64_t) override {}

    Endpoint asked;
    std::string request;
    bool ends = true;
    std::size_t received_bytes = 0;

  private:
    struct Pipe final : Transport {
        explicit Pipe(OneAnswer& owner) : owner(owner) {}
        std::expected<void, TransportFailure> send(Bytes bytes, Instant) override {
            owner.request += as_text(bytes);
            return {};
        }
        std::expected<std::size_t, TransportFailure> receive(MutableBytes room, Instant) override {
            using Kind = TransportFailure::Kind;
            const std::size_t count = std::min({room.size(), owner.piece_bytes_, owner.answer_.size() - owner.received_bytes});
            if (count == 0) {
                return std::unexpected(TransportFailure{owner.ends ? Kind::closed : Kind::timed_out, "it took too long"});
            }
            std::memcpy(room.data(), owner.answer_.data() + owner.received_bytes, count);
            owner.received_bytes += count;
            return count;
        }
        OneAnswer& owner;
    };

    const std::string answer_;
    const std::size_t piece_bytes_;
    SystemClock clock_;
};

std::string got(OneAnswer& network, std::size_t bytes_max = 100, const std::string& url = "http://issuer/keys?a=b#c") {
    const auto place = parse_http_url(url);
    EXPECT_TRUE(place) << place.error();
    const auto body = download(network, *place, nullptr, bytes_max, Instant{});
    return body ? *body : "error: " + body.error();
}

TEST(HttpExchange, TheBodyOfAGoodAnswerIsGiven) {
    OneAnswer network("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    EXPECT_EQ(got(network), "{}");
    EXPECT_EQ(network.asked, (Endpoint{"issuer", 80}));
    EXPECT_THAT(network.request, ::testing::StartsWith("GET /keys?a=b HTTP/1.1\r\nHost: issuer:80\r\n"));
}

TEST(HttpExchange, AnAnswerMayComeInAnyPiecesAndEndWithItsConnection) {
    for (const std::size_t piece : {1u, 2u, 7u}) {
        OneAnswer chunked(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
            "chunked\r\n\r\n3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n",
            piece);
        EXPECT_EQ(got(chunked), "{\"a\":1}");
        OneAnswer unbounded("HTTP/1.0 200 OK\r\n\r\n{\"a\":2}", piece);
        EXPECT_EQ(got(unbounded), "{\"a\":2}");
    }
}

TEST(HttpExchange, WhatIsAnnouncedOrComesBeyondTheLimitIsRefused) {
    OneAnswer announced("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n");
    EXPECT_EQ(got(announced), "error: the answer is longer than 100 bytes");
    OneAnswer endless("HTTP/1.1 200 OK\r\n\r\n" + std::string(1'000'000, ' '), 1'000);
    EXPECT_EQ(got(endless), "error: the answer is longer than 100 bytes");
    EXPECT_LE(endless.received_bytes, 20'000u);
    OneAnswer head("HTTP/1.1 200 OK\r\n" + std::string(100'000, 'x') + ": y\r\n\r\n");
    EXPECT_THAT(got(head), HasSubstr("this is not an HTTP answer"));
}

TEST(HttpExchange, OtherAnswersAndNoneAreErrors) {
    OneAnswer moved(
        "HTTP/1.1 302 Found\r\nLocation: "
        "http://elsewhere/\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(got(moved), "error: the answer is 302, not 200");
    OneAnswer half("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{");
    EXPECT_EQ(got(half), "error: the answer ended before it was complete");
    OneAnswer other("SSH-2.0-OpenSSH\r\n");
    EXPECT_THAT(got(other), HasSubstr("this is not an HTTP answer"));
    OneAnswer nothing("");
    EXPECT_EQ(got(nothing), "error: the connection ended without an answer");
    OneAnswer silent("");
    silent.ends = false;
    EXPECT_EQ(got(silent), "error: it took too long");
}

TEST(HttpExchange, ABodyIsHandedOnAsItComesUntilItsTakerHasEnough) {
    OneAnswer network("HTTP/1.1 404 Not Found\r\nPartita-Broker: node=1\r\n\r\n0123456789", 7);
    const HttpRequest request{.method = "PUT", .fields = {{"Authorization", "Bearer t"}}, .body = "{}"};
    auto exchange = HttpExchange::begin(network, *parse_http_url("http://[::1]:81/x"), nullptr, request, {});
    ASSERT_TRUE(exchange) << exchange.error().message;
    EXPECT_THAT(network.request, ::testing::StartsWith("PUT /x HTTP/1.1\r\nHost: [::1]:81\r\n"));
    EXPECT_THAT(network.request, ::testing::HasSubstr("\r\nAuthorization: Bearer t\r\nContent-Length: 2\r\n\r\n{}"));
    EXPECT_EQ(exchange->status(), 404);
    EXPECT_EQ(exchange->field("partita-broker"), "node=1");
    EXPECT_EQ(exchange->field("nothing"), "");
    std::string taken;
    ASSERT_TRUE(exchange->read_body([&](std::string_view piece) {
        taken += piece;
        return taken.size() < 5;
    }));
    EXPECT_LT(taken.size(), 10u);
    EXPECT_EQ(taken, std::string("0123456789").substr(0, taken.size()));
    ASSERT_TRUE(exchange->read_body([&](std::string_view piece) {
        taken += piece;
        return true;
    }));
    EXPECT_EQ(taken, "0123456789");
}

TEST(HttpExchange, TroubleSaysHowFarItCame) {
    using Kind = HttpTrouble::Kind;
    const auto kind_of = [](const std::string& answer, bool ends, const std::string& target = "/") {
        OneAnswer network(answer);
        network.ends = ends;
        HttpUrl url = *parse_http_url("http://a/");
        url.target = target;
        auto exchange = HttpExchange::begin(network, url, nullptr, {.fields = {}, .body = {}}, {.body_bytes = 10});
        const auto read =
            exchange ? exchange->read_body([](std::string_view) { return true; }) : std::unexpected(exchange.error());
        return read ? std::optional<Kind>() : std::optional(read.error().kind);
    };
    EXPECT_EQ(kind_of("HTTP/1.1 200 OK\r\n\r\n", true), std::nullopt);
    EXPECT_EQ(kind_of("", true), Kind::no_answer);
    EXPECT_EQ(kind_of("HTTP/1.1 200 OK\r\n", false), Kind::no_answer);
    EXPECT_EQ(kind_of("HTTP/1.1 200 OK\r\n", true), Kind::no_answer);
    EXPECT_EQ(kind_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", true), Kind::incomplete);
    EXPECT_EQ(kind_of("HTTP/1.1 200 OK\r\n\r\n01234567890", true), Kind::too_long);
    EXPECT_EQ(kind_of("HTTP/1.1 200 OK\r\n\r\n", true, "/x\r\nHost: y"), Kind::unreachable) << "and nothing is sent";
}

TEST(HttpExchange, UrlsAreTakenApartOrRefused) {
    EXPECT_EQ(parse_http_url("https://a", 8092)->endpoint.port, 8092);
    EXPECT_EQ(parse_http_url("https://a:1", 8092)->endpoint.port, 1);
    const auto secured = parse_http_url("https://[::1]:8443?x");
    ASSERT_TRUE(secured) << secured.error();
    EXPECT_TRUE(secured->has_tls);
    EXPECT_EQ(secured->endpoint, (Endpoint{"::1", 8443}));
    EXPECT_EQ(secured->target, "/?x");
    EXPECT_EQ(parse_http_url("https://a")->endpoint.port, 443);
    EXPECT_EQ(parse_http_url("https://a")->target, "/");
    for (const std::string_view url : {"ftp://a/", "http://", "http://:80/", "http://a:b/", "http://a:0/", "http://a:99999/",
                                       "http://[::1/", "http://[::1]x/", "http://u:p@a/", "http://a/b c", "http://a/\r\nX: y"}) {
        EXPECT_FALSE(parse_http_url(url)) << url;
    }
}

}  // namespace
}  // namespace partita::client
