#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <thread>
#include <utility>

namespace partita::cli {

/// Answers one HTTP request on a port of its own, with bytes that the test chooses, and closes the connection.
class AnsweringServer {
  public:
    explicit AnsweringServer(std::string answer) : answer_(std::move(answer)), thread_([this] { serve(); }) {}
    ~AnsweringServer() {
        if (thread_.joinable()) {
            // No client came: an empty connection ends the wait for a request.
            boost::system::error_code ignored;
            tcp::socket(context_).connect(acceptor_.local_endpoint(), ignored);
            thread_.join();
        }
    }
    AnsweringServer(const AnsweringServer&) = delete;
    AnsweringServer& operator=(const AnsweringServer&) = delete;

    [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }
    /// The first line of the request, "GET /v1/... HTTP/1.1", once the server has answered it.
    [[nodiscard]] std::string request() {
        thread_.join();
        return request_.substr(0, request_.find("\r\n"));
    }

    /// A whole answer.
    [[nodiscard]] static std::string http(const std::string& status, const std::string& body) {
        return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    }

  private:
    using tcp = boost::asio::ip::tcp;

    void serve() {
        boost::system::error_code error;
        tcp::socket socket(context_);
        acceptor_.accept(socket, error);
        if (!error) {
            boost::asio::read_until(socket, boost::asio::dynamic_buffer(request_), "\r\n\r\n", error);
        }
        if (!error) {
            boost::asio::write(socket, boost::asio::buffer(answer_), error);
        }
    }

    boost::asio::io_context context_;
    tcp::acceptor acceptor_{context_, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)};
    const std::string answer_;
    std::string request_;
    std::thread thread_;
};

}  // namespace partita::cli
