#include "broker/http/session.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

namespace partita::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// A session at the other end of a connection; what it is asked for is always a method that the path does not have.
class Sessions : public ::testing::Test {
  protected:
    /// What a request is answered with, head and body.
    std::string answer_of(const std::string& request_line, const std::string& headers) {
        asio::io_context context;
        tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        tcp::socket client(context);
        client.connect(acceptor.local_endpoint());
        auto session = std::make_shared<Session>(
            acceptor.accept(), names_, identity_, [](const ExchangePointer& exchange) { exchange->refuse_method("POST"); },
            [](tcp::socket, auto, const Caller&) {}, [](const std::shared_ptr<Session>&) {});
        session->read();
        session.reset();
        asio::write(client, asio::buffer(request_line + " HTTP/1.1\r\n" + headers + "\r\n"));
        client.shutdown(tcp::socket::shutdown_send);  // There is no second request to wait for.
        context.run();
        std::string answer;
        boost::system::error_code at_end;
        asio::read(client, asio::dynamic_buffer(answer), at_end);
        return answer;
    }

    const std::vector<std::string> names_ = {"broker.lan"};
    const std::string identity_ = "node=1; kafka=localhost:9092";
};

TEST_F(Sessions, NameTheMethodsOfAPathThatHasOthers) {
    const std::string answer = answer_of("GET /v1/topics/orders/nudge", "Host: localhost\r\n");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 405 ")) << answer;
    EXPECT_NE(answer.find("\r\nAllow: POST\r\n"), std::string::npos) << answer;
    EXPECT_NE(answer.find("\r\nPartita-Broker: node=1; kafka=localhost:9092\r\n"), std::string::npos) << answer;
}

TEST_F(Sessions, ShowAndChangeNothingUnderTheNameOfAnotherSite) {
    // A page of example.org, a name that now leads here: its browser sees one origin.
    const std::string page = "Host: example.org:8092\r\nOrigin: http://example.org:8092\r\n";
    EXPECT_TRUE(answer_of("POST /v1/topics/orders/nudge", page).starts_with("HTTP/1.1 403 "));
    EXPECT_TRUE(answer_of("GET /v1/findings", "Host: example.org:8092\r\n").starts_with("HTTP/1.1 403 "));
    const std::string upgrade =
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
        "dGhlIHNhbXBsZSBub25jZQ==\r\n";
    EXPECT_TRUE(answer_of("GET /v1/events", page + upgrade).starts_with("HTTP/1.1 403 "));
}

TEST_F(Sessions, KnowAnIPv4ClientByItsIPv4Address) {
    asio::io_context context;
    // It serves both kinds, as the listener does where there is IPv6.
    tcp::acceptor acceptor(context);
    boost::system::error_code error;
    acceptor.open(tcp::v6(), error);
    if (!error) acceptor.bind(tcp::endpoint(asio::ip::address_v6::any(), 0), error);
    if (error) GTEST_SKIP() << "this machine has no IPv6: " << error.message();
    acceptor.listen();
    tcp::socket client(context);
    client.connect({asio::ip::address_v4::loopback(), acceptor.local_endpoint().port()});
    std::string address;
    std::make_shared<Session>(
        acceptor.accept(), names_, identity_,
        [&](const ExchangePointer& exchange) {
            address = exchange->caller().address;
            exchange->refuse_method("POST");
        },
        [](tcp::socket, auto, const Caller&) {}, [](const std::shared_ptr<Session>&) {})
        ->read();
    asio::write(client, asio::buffer(std::string_view("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")));
    client.shutdown(tcp::socket::shutdown_send);
    context.run();
    EXPECT_EQ(address, "127.0.0.1");
}

TEST_F(Sessions, ServeTheNamesOfTheBrokerAndHealthUnderAnyName) {
    for (const char* host : {"127.0.0.1:8092", "broker.lan:8092", "localhost"}) {
        EXPECT_TRUE(answer_of("GET /v1/findings", "Host: " + std::string(host) + "\r\n").starts_with("HTTP/1.1 405 ")) << host;
    }
    EXPECT_TRUE(answer_of("GET /metrics", "Host: example.org\r\n").starts_with("HTTP/1.1 405 "));
}

}  // namespace
}  // namespace partita::http
