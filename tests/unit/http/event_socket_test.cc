#include "broker/http/event_socket.h"

#include <gtest/gtest.h>

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "broker/http/event_feed.h"

namespace partita::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using insight::Finding;
using insight::HazardId;

Finding finding_about(const std::string& client, const std::string& condition = "condition") {
    return insight::make_finding(HazardId::stale_producer, {.topic = "orders", .client_id = client}, condition);
}

/// The server's sockets run on a separate thread; clients are blocking ones on the test's thread.
class EventSockets : public testing::Test {
  protected:
    EventSockets() : thread_([this] { context_.run(); }) {}
    ~EventSockets() override {
        asio::post(context_, [this] { acceptor_.close(); });
        feed_.reset();
        work_.reset();
        thread_.join();
    }

    /// A client whose socket was taken by the feed.
    std::unique_ptr<websocket::stream<tcp::socket>> connect() {
        acceptor_.async_accept([this](const beast::error_code& error, tcp::socket socket) {
            ASSERT_FALSE(error) << error.message();
            beast::flat_buffer buffer;
            UpgradeRequest request;
            beast::http::read(socket, buffer, request);
            EXPECT_TRUE(wants_upgrade(request));
            open_event_socket(HttpStream(std::move(socket)), std::move(request), Caller(), feed_);
        });
        auto client = std::make_unique<websocket::stream<tcp::socket>>(client_context_);
        client->next_layer().connect(acceptor_.local_endpoint());
        client->handshake("localhost", "/v1/events");
        return client;
    }

    /// Returns the next message as "opened x".
    static std::string hear(websocket::stream<tcp::socket>& client) {
        beast::flat_buffer message;
        client.read(message);
        EXPECT_TRUE(client.got_text());
        const auto event = nlohmann::json::parse(beast::buffers_to_string(message.data()));
        return event.at("event").get<std::string>() + " " + event.at("finding").at("subject").at("client_id").get<std::string>();
    }

    asio::io_context context_;
    asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(context_);
    asio::io_context client_context_;
    tcp::acceptor acceptor_{context_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
    insight::FindingsHub hub_;
    const access::Authorizer authorizer_{nullptr};
    std::shared_ptr<EventFeed> feed_ = std::make_shared<EventFeed>(hub_, authorizer_);
    std::thread thread_;
};

TEST_F(EventSockets, CarryEveryEventAsATextMessage) {
    hub_.settle("a", std::vector{finding_about("x")}, {1});
    const auto client = connect();
    EXPECT_EQ(hear(*client), "opened x");
    hub_.settle("a", std::vector{finding_about("y")}, {2});
    EXPECT_EQ(hear(*client), "closed x");
    EXPECT_EQ(hear(*client), "opened y");
}

TEST_F(EventSockets, CloseWithTheFeed) {
    hub_.settle("a", std::vector{finding_about("x")}, {1});
    const auto client = connect();
    EXPECT_EQ(hear(*client), "opened x");
    feed_.reset();
    beast::flat_buffer message;
    beast::error_code error;
    client->read(message, error);
    EXPECT_TRUE(error);
}

TEST_F(EventSockets, EndAtAMessageThatIsTooLong) {
    hub_.settle("a", std::vector{finding_about("x")}, {1});
    const auto client = connect();
    EXPECT_EQ(hear(*client), "opened x");
    client->write(asio::buffer(std::string("a word is heard and ignored")));
    hub_.settle("a", {}, {2});
    EXPECT_EQ(hear(*client), "closed x");
    client->write(asio::buffer(std::string(4097, 'a')));
    beast::flat_buffer message;
    beast::error_code error;
    client->read(message, error);
    EXPECT_TRUE(error);
}

TEST_F(EventSockets, LetAClientGoForWhichAMegabyteWaits) {
    hub_.settle("a", std::vector{finding_about("x")}, {1});
    const auto client = connect();
    EXPECT_EQ(hear(*client), "opened x");
    // The client reads no more. The broker keeps what the system's buffers do not take, up to the bound.
    const std::string sentence(64 * 1024, 's');
    constexpr int kEvents = 200;
    for (int index = 0; index < kEvents; ++index) {
        hub_.settle("a", std::vector{finding_about(std::to_string(index), sentence)}, {2 + index});
    }
    int heard = 0;
    beast::error_code error;
    for (beast::flat_buffer message; !error && heard <= kEvents; message.clear(), ++heard) {
        client->read(message, error);
    }
    EXPECT_TRUE(error);
    EXPECT_LT(heard, kEvents);
}

}  // namespace
}  // namespace partita::http
