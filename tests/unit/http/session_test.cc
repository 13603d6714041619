#include "broker/http/session.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>

#include "broker/dev_security/certificates.h"

namespace partita::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// A session at the other end of a connection. The requests always use a method that the path does not have.
class Sessions : public ::testing::Test {
  protected:
    /// The answer to a request, head and body.
    std::string answer_of(const std::string& request_line, const std::string& headers) {
        asio::io_context context;
        tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        tcp::socket client(context);
        client.connect(acceptor.local_endpoint());
        auto session = std::make_shared<Session>(
            HttpStream(acceptor.accept()), Session::Surroundings{names_, identity_, gate_},
            [this](const ExchangePointer& exchange) {
                asked_by_ = exchange->caller().session.principal->text();
                exchange->refuse_method("POST");
            },
            [](HttpStream, auto, const Caller&) {}, [](const std::shared_ptr<Session>&) {});
        session->start();
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
    Gate gate_;
    /// The client of the last request that was served.
    std::string asked_by_;
};

TEST_F(Sessions, NameTheMethodsOfAPathThatHasOthers) {
    const std::string answer = answer_of("GET /v1/topics/orders/nudge", "Host: localhost\r\n");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 405 ")) << answer;
    EXPECT_NE(answer.find("\r\nAllow: POST\r\n"), std::string::npos) << answer;
    EXPECT_NE(answer.find("\r\nPartita-Broker: node=1; kafka=localhost:9092\r\n"), std::string::npos) << answer;
}

TEST_F(Sessions, ShowAndChangeNothingUnderTheNameOfAnotherSite) {
    // A page of example.org, a name that now leads to this broker: its browser sees one origin.
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
    // The acceptor serves both kinds, as the listener does with IPv6.
    tcp::acceptor acceptor(context);
    boost::system::error_code error;
    acceptor.open(tcp::v6(), error);
    if (!error) {
        acceptor.bind(tcp::endpoint(asio::ip::address_v6::any(), 0), error);
    }
    if (error) {
        GTEST_SKIP() << "this machine has no IPv6: " << error.message();
    }
    acceptor.listen();
    tcp::socket client(context);
    client.connect({asio::ip::address_v4::loopback(), acceptor.local_endpoint().port()});
    std::string address;
    std::make_shared<Session>(
        HttpStream(acceptor.accept()), Session::Surroundings{names_, identity_, gate_},
        [&](const ExchangePointer& exchange) {
            address = exchange->caller().address;
            exchange->refuse_method("POST");
        },
        [](HttpStream, auto, const Caller&) {}, [](const std::shared_ptr<Session>&) {})
        ->start();
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

TEST_F(Sessions, TellWhoHasNoTokenHowToGiveOne) {
    gate_ = Gate({.token = "0123456789abcdef", .bearer = std::make_shared<access::Principal>("User", "admin")});
    const std::string missing = answer_of("GET /v1/findings", "Host: localhost\r\n");
    EXPECT_TRUE(missing.starts_with("HTTP/1.1 401 ")) << missing;
    EXPECT_NE(missing.find("\r\nWWW-Authenticate: Bearer realm=\"partita\"\r\n"), std::string::npos) << missing;
    EXPECT_NE(missing.find("{\"error\": \"this resource needs the broker's token"), std::string::npos) << missing;
    const std::string wrong = answer_of("GET /v1/findings", "Host: localhost\r\nAuthorization: Bearer fedcba9876543210\r\n");
    EXPECT_TRUE(wrong.starts_with("HTTP/1.1 401 ")) << wrong;
    EXPECT_EQ(wrong.find("fedcba9876543210"), std::string::npos) << "nobody is told what he said";
    EXPECT_TRUE(answer_of("POST /v1/topics", "Host: localhost\r\nContent-Length: 0\r\n").starts_with("HTTP/1.1 401 "));
    EXPECT_TRUE(answer_of("GET /health/live", "Host: localhost\r\n").starts_with("HTTP/1.1 405 "));
}

TEST_F(Sessions, ServeTheBearerOfTheTokenByAnyName) {
    gate_ = Gate({.token = "0123456789abcdef", .bearer = std::make_shared<access::Principal>("User", "admin")});
    const std::string token = "Authorization: Bearer 0123456789abcdef\r\n";
    EXPECT_TRUE(answer_of("GET /v1/findings", "Host: broker.example.org\r\n" + token).starts_with("HTTP/1.1 405 "));
    EXPECT_EQ(asked_by_, "User:admin");
    EXPECT_TRUE(
        answer_of("GET /v1/findings", "Host: localhost\r\nOrigin: https://example.org\r\n" + token).starts_with("HTTP/1.1 403 "));
}

TEST_F(Sessions, OfAClosedGateSayThatNoTokenWouldHelp) {
    gate_ = Gate({.token = "", .is_open = false});
    const std::string closed = answer_of("GET /v1/findings", "Host: localhost\r\n");
    EXPECT_TRUE(closed.starts_with("HTTP/1.1 403 ")) << closed;
    EXPECT_NE(closed.find("partita.http.token.file"), std::string::npos) << closed;
    EXPECT_TRUE(answer_of("GET /metrics", "Host: localhost\r\n").starts_with("HTTP/1.1 405 "));
}

TEST_F(Sessions, SpeakTlsWithWhoeverTrustsTheirCertificate) {
    const auto authority = dev_security::Authority::make("an authority", {.begin_s = 0, .end_s = 4'000'000'000}).value();
    const auto identity = authority.issue_server({"localhost"}, {.begin_s = 0, .end_s = 4'000'000'000}).value();
    asio::ssl::context server(asio::ssl::context::tls_server);
    server.use_certificate(asio::buffer(identity.certificate), asio::ssl::context::pem);
    server.use_private_key(asio::buffer(identity.key), asio::ssl::context::pem);
    asio::ssl::context trusting(asio::ssl::context::tls_client);
    trusting.add_certificate_authority(asio::buffer(authority.certificate()));
    trusting.set_verify_mode(asio::ssl::verify_peer);

    asio::io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    asio::ssl::stream<tcp::socket> client(context, trusting);
    client.set_verify_callback(asio::ssl::host_name_verification("localhost"));
    client.next_layer().connect(acceptor.local_endpoint());
    std::make_shared<Session>(
        HttpStream(acceptor.accept(), &server), Session::Surroundings{names_, identity_, gate_},
        [](const ExchangePointer& exchange) { exchange->respond(Status::ok, kPlainText, std::string(200'000, 'x')); },
        [](HttpStream, auto, const Caller&) {}, [](const std::shared_ptr<Session>&) {})
        ->start();
    const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    std::string answer;
    boost::system::error_code shaken = asio::error::would_block;
    client.async_handshake(asio::ssl::stream_base::client, [&](const boost::system::error_code& error) {
        shaken = error;
        if (error) {
            return;
        }
        asio::async_write(client, asio::buffer(request), [&](const boost::system::error_code&, std::size_t) {
            asio::async_read(client, asio::dynamic_buffer(answer), [](const boost::system::error_code&, std::size_t) {});
        });
    });
    context.run();
    EXPECT_FALSE(shaken) << shaken.message();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer.substr(0, 100);
    EXPECT_TRUE(answer.ends_with(std::string(200'000, 'x'))) << answer.size();
}

TEST_F(Sessions, CloseOnWhoeverSpeaksNoTlsToThem) {
    asio::ssl::context server(asio::ssl::context::tls_server);
    asio::io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    tcp::socket client(context);
    client.connect(acceptor.local_endpoint());
    bool is_closed = false;
    std::make_shared<Session>(
        HttpStream(acceptor.accept(), &server), Session::Surroundings{names_, identity_, gate_},
        [](const ExchangePointer&) { ADD_FAILURE() << "it was served"; }, [](HttpStream, auto, const Caller&) {},
        [&](const std::shared_ptr<Session>&) { is_closed = true; })
        ->start();
    asio::write(client, asio::buffer(std::string_view("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")));
    context.run();
    EXPECT_TRUE(is_closed);
}

}  // namespace
}  // namespace partita::http
