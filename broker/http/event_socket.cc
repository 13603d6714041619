#include "broker/http/event_socket.h"

#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/beast/websocket.hpp>
#include <deque>
#include <string>

#include "broker/http/gate.h"

namespace partita::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;

class EventSocket final : public EventSink, public std::enable_shared_from_this<EventSocket> {
  public:
    static constexpr std::size_t kQueuedBytesMax = 1 << 20;
    /// The size limit of a client's message.
    static constexpr std::size_t kMessageBytesMax = 4096;

    EventSocket(HttpStream stream, UpgradeRequest request, Caller caller)
        : stream_(std::move(stream)), request_(std::move(request)), caller_(std::move(caller)) {}

    void open(const std::shared_ptr<EventFeed>& feed) {
        // Pings detect a client that vanished without closing.
        stream_.set_option(websocket::stream_base::timeout::suggested(beast::role_type::server));
        stream_.read_message_max(kMessageBytesMax);
        // A browser that offers protocols requires that the server selects one.
        if (const auto offered = request_[beast::http::field::sec_websocket_protocol]; !offered.empty()) {
            stream_.set_option(websocket::stream_base::decorator([](websocket::response_type& response) {
                response.set(beast::http::field::sec_websocket_protocol,
                             beast::string_view(kWebSocketProtocol.data(), kWebSocketProtocol.size()));
            }));
        }
        stream_.async_accept(request_, [self = shared_from_this(), feed](const boost::system::error_code& error) {
            if (error) {
                self->is_gone_ = true;
                return;
            }
            self->read();
            if (!feed->add(self, self->caller_)) {
                self->close();
            }
        });
    }

    bool offer(const std::string& line) override {
        if (is_gone_ || queued_bytes_.fetch_add(line.size()) > kQueuedBytesMax) {
            return false;
        }
        asio::post(stream_.get_executor(), [self = shared_from_this(), line] {
            self->queue_.push_back(line);
            if (self->queue_.size() == 1 && !self->is_gone_) {
                self->write();
            }
        });
        return true;
    }
    bool is_gone() const override { return is_gone_; }
    void end() override {
        asio::post(stream_.get_executor(), [self = shared_from_this()] { self->close(); });
    }

  private:
    void read() {
        stream_.async_read(buffer_, [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
            if (error) {
                self->is_gone_ = true;
                return;
            }
            self->buffer_.clear();
            self->read();
        });
    }

    void write() {
        stream_.text(true);
        stream_.async_write(asio::buffer(queue_.front()),
                            [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                                self->queued_bytes_ -= self->queue_.front().size();
                                self->queue_.pop_front();
                                if (error) {
                                    self->is_gone_ = true;
                                } else if (!self->queue_.empty() && !self->is_gone_) {
                                    self->write();
                                }
                            });
    }

    void close() {
        if (is_gone_.exchange(true)) {
            return;
        }
        stream_.next_layer().transport().close();
    }

    websocket::stream<HttpStream> stream_;
    UpgradeRequest request_;
    const Caller caller_;
    beast::flat_buffer buffer_;
    std::deque<std::string> queue_;
    std::atomic<std::size_t> queued_bytes_ = 0;
    std::atomic<bool> is_gone_ = false;
};

}  // namespace

bool wants_upgrade(const UpgradeRequest& request) { return websocket::is_upgrade(request); }

void open_event_socket(HttpStream stream, UpgradeRequest request, Caller caller, const std::shared_ptr<EventFeed>& feed) {
    std::make_shared<EventSocket>(std::move(stream), std::move(request), std::move(caller))->open(feed);
}

}  // namespace partita::http
