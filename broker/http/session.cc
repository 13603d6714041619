#include "broker/http/session.h"

#include <sys/socket.h>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "broker/http/event_socket.h"
#include "broker/runtime/clients/numeric_address.h"
#include "protocol/mutex.h"

namespace partita::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

Method method_of(beast::http::verb verb) {
    // An if chain, because Beast knows dozens more verbs.
    if (verb == beast::http::verb::get) {
        return Method::get;
    }
    if (verb == beast::http::verb::head) {
        return Method::head;
    }
    if (verb == beast::http::verb::post) {
        return Method::post;
    }
    if (verb == beast::http::verb::put) {
        return Method::put;
    }
    if (verb == beast::http::verb::delete_) {
        return Method::delete_;
    }
    return Method::other;
}

std::string_view text_of(beast::string_view text) { return {text.data(), text.size()}; }

/// One counter for all sessions.
std::uint64_t next_wait() {
    static std::atomic<std::uint64_t> last = 0;
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

/// The answer to a request. Any thread may call it; it passes the calls to the session's thread.
class Session::Answer final : public Exchange {
  public:
    Answer(std::shared_ptr<Session> session, Request request, Caller caller)
        : session_(std::move(session)), request_(std::move(request)), caller_(std::move(caller)) {}
    ~Answer() override {
        if (!is_given_) {
            asio::post(session_->stream_.get_executor(), [session = session_] { session->answer_dropped(); });
        }
    }

    const Request& request() const override { return request_; }
    const Caller& caller() const override { return caller_; }

    void respond(Status status, std::string_view type, std::string body, Headers headers) override {
        is_given_ = true;
        run([status, type = std::string(type), body = std::move(body), headers = std::move(headers)](Session& session) mutable {
            session.send_whole(status, type, std::move(body), headers);
        });
    }
    void refuse_method(std::string_view allowed) override {
        is_given_ = true;
        run([allowed = std::string(allowed)](Session& session) {
            session.send_whole(Status::method_not_allowed, kPlainText, "the path allows " + allowed + "\n", {{"Allow", allowed}});
        });
    }
    void begin(Status status, std::string_view type) override {
        run([status, type = std::string(type)](Session& session) { session.send_header(status, type); });
    }
    bool write(std::string piece) override {
        if (piece.empty()) {
            return !is_gone();
        }
        UniqueLock lock(mutex_);
        room_.wait(lock, [this]() REQUIRES(mutex_) { return queued_bytes_ < kQueuedBytesMax || is_gone_; });
        if (is_gone_) {
            return false;
        }
        queued_bytes_ += piece.size();
        lock.unlock();
        run([piece = std::move(piece)](Session& session) mutable { session.send_piece({std::move(piece)}); });
        return true;
    }
    bool offer(std::string piece) override {
        const std::size_t bytes = piece.size();
        {
            const MutexLock lock(mutex_);
            if (is_gone_ || queued_bytes_ >= kQueuedBytesMax) {
                return false;
            }
            queued_bytes_ += bytes;
        }
        // Always post: this thread may hold something that the session's thread must not wait for.
        asio::post(session_->stream_.get_executor(),
                   [session = session_, piece = std::move(piece)]() mutable { session->send_piece({std::move(piece)}); });
        return true;
    }
    void end() override {
        is_given_ = true;
        run([](Session& session) { session.send_piece({"", true}); });
    }
    FileDescriptor detach() override {
        FileDescriptor socket = session_->detach();
        is_given_ = is_given_ || socket.is_open();
        return socket;
    }
    bool is_gone() const override {
        const MutexLock lock(mutex_);
        return is_gone_;
    }

    void on_sent(std::size_t bytes) {
        const MutexLock lock(mutex_);
        queued_bytes_ -= bytes;
        room_.notify_all();
    }
    void on_gone() {
        const MutexLock lock(mutex_);
        is_gone_ = true;
        room_.notify_all();
    }

  private:
    template <class Use>
    void run(Use use) {
        asio::dispatch(session_->stream_.get_executor(), [session = session_, use = std::move(use)]() mutable { use(*session); });
    }

    std::shared_ptr<Session> session_;
    const Request request_;
    const Caller caller_;
    std::atomic<bool> is_given_ = false;
    mutable Mutex mutex_{LockRank::http_exchange};
    Condition room_;
    std::size_t queued_bytes_ GUARDED_BY(mutex_) = 0;
    bool is_gone_ GUARDED_BY(mutex_) = false;
};

std::string Session::address_of(HttpStream& stream) {
    boost::system::error_code error;
    const asio::ip::tcp::endpoint remote = stream.transport().socket().remote_endpoint(error);
    return error ? std::string() : runtime::numeric_address(remote.address());
}

std::optional<std::uint64_t> Session::waits_since() const {
    return is_answering_ || is_closed_ ? std::nullopt : std::optional(waits_since_);
}

void Session::start() {
    waits_since_ = next_wait();
    if (stream_.secured() == nullptr) {
        read();
        return;
    }
    stream_.transport().expires_after(std::chrono::seconds(kTimeoutSeconds));
    stream_.secured()->async_handshake(asio::ssl::stream_base::server,
                                       [self = shared_from_this()](const boost::system::error_code& error) {
                                           if (error) {
                                               self->finish();
                                           } else if (!self->is_closed_) {
                                               self->read();
                                           }
                                       });
}

void Session::read() {
    waits_since_ = next_wait();
    parser_.emplace();
    parser_->header_limit(kRequestBytesMax);
    parser_->body_limit(kBodyBytesMax);
    stream_.transport().expires_after(std::chrono::seconds(kTimeoutSeconds));
    beast::http::async_read(stream_, buffer_, *parser_,
                            [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                                if (error == beast::http::error::body_limit) {
                                    self->refuse_large_body();
                                } else if (error) {
                                    self->finish();
                                } else {
                                    self->on_request();
                                }
                            });
}

void Session::refuse_large_body() {
    ++served_;
    is_answering_ = true;
    // The rest of the body would follow, so this is the last answer.
    parser_->get().keep_alive(false);
    send_whole(Status::content_too_large, kJson,
               R"({"error": "the request is larger than a megabyte: write to Kafka's port instead"})"
               "\n");
}

void Session::on_request() {
    ++served_;
    is_answering_ = true;
    const auto& message = parser_->get();
    std::optional<Request> request = parse_target(text_of(message.target()));
    if (!request) {
        send_whole(Status::bad_request, kPlainText, "the request's path is malformed\n");
        return;
    }
    if (const std::string_view reason = refusal(*request); !reason.empty()) {
        send_whole(Status::forbidden, kPlainText, std::string(reason));
        return;
    }
    const auto principal = surroundings_.gate.admit(*request, text_of(message[beast::http::field::authorization]),
                                                    text_of(message[beast::http::field::sec_websocket_protocol]));
    if (!principal) {
        if (principal.error().is_of_wrong_token && surroundings_.on_wrong_token) {
            surroundings_.on_wrong_token(address_);
        }
        refuse_stranger(principal.error());
        return;
    }
    const bool is_told_names =
        surroundings_.gate.tells_names_to(**principal) &&
        (surroundings_.gate.has_token() || is_own_host(text_of(message[beast::http::field::host]), surroundings_.own_names));
    Caller caller{.session = {.principal = *principal}, .address = address_, .is_told_names = is_told_names};
    if (wants_upgrade(message) && request->path == std::vector<std::string>{"v1", "events"}) {
        hand_over(std::move(caller));
        return;
    }
    request->method = method_of(message.method());
    request->body = message.body();
    request->content_type = text_of(message[beast::http::field::content_type]);
    request->if_match = text_of(message[beast::http::field::if_match]);
    request->if_none_match = text_of(message[beast::http::field::if_none_match]);
    auto answer = std::make_shared<Answer>(shared_from_this(), std::move(*request), std::move(caller));
    answer_ = answer;
    stream_.transport().expires_never();
    serve_(answer);
    if (is_answering_ && !is_writing_ && !is_closed_) {
        watch_for_close();
    }
}

std::string_view Session::refusal(const Request& request) const {
    const auto& message = parser_->get();
    const std::string_view host = text_of(message[beast::http::field::host]);
    if (const auto origin = message.find(beast::http::field::origin);
        origin != message.end() && is_of_foreign_page(text_of(origin->value()), host)) {
        return "requests from pages of other sites are refused\n";
    }
    // Health and metrics show no data, and clusters request them by any name of the machine.
    const bool is_of_anybody = !request.path.empty() && (request.path.front() == "health" || request.path.front() == "metrics");
    // With a token this check is unnecessary: only a page of this broker, or a program without a page, can show the token. Pages
    // of other sites do not know it.
    if (!is_of_anybody && !surroundings_.gate.has_token() && !is_own_host(host, surroundings_.own_names)) {
        return "the Host header is not a name of this broker: use an IP address, a name without a dot, this machine's name or "
               "one "
               "of "
               "advertised.listeners\n";
    }
    return {};
}

void Session::refuse_stranger(const Gate::Refusal& refusal) {
    if (refusal.challenge.empty()) {
        send_whole(Status::forbidden, kJson, "{\"error\": \"" + std::string(refusal.reason) + "\"}\n");
        return;
    }
    send_whole(Status::unauthorized, kJson, "{\"error\": \"" + std::string(refusal.reason) + "\"}\n",
               {{"WWW-Authenticate", std::string(refusal.challenge)}});
}

void Session::hand_over(Caller caller) {
    is_closed_ = true;
    stream_.transport().expires_never();
    upgrade_(std::move(stream_), parser_->release(), std::move(caller));
    closed_(shared_from_this());
}

void Session::watch_for_close() {
    stream_.transport().socket().async_wait(
        asio::ip::tcp::socket::wait_read, [self = shared_from_this(), served = served_](const boost::system::error_code& error) {
            if (error || self->is_closed_ || served != self->served_ || !self->is_answering_) {
                return;
            }
            char byte = 0;
            const auto seen = ::recv(self->stream_.transport().socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
            // Bytes of the next request wait their turn.
            if (seen <= 0) {
                self->close();
            }
        });
}

void Session::send_whole(Status status, std::string_view type, std::string body, const Headers& headers) {
    if (is_closed_) {
        return;
    }
    const auto& request = parser_->get();
    response_ = {static_cast<beast::http::status>(status), request.version()};
    response_.set(beast::http::field::server, "partita");
    response_.set("Partita-Broker", surroundings_.identity);
    response_.set(beast::http::field::content_type, type);
    for (const Header& header : headers) {
        response_.set(header.name, header.value);
    }
    if (status == Status::unavailable) {
        response_.set(beast::http::field::retry_after, "1");
    }
    response_.keep_alive(request.keep_alive());
    response_.body() = std::move(body);
    response_.prepare_payload();
    if (request.method() == beast::http::verb::head) {
        response_.body().clear();
    }
    is_writing_ = true;
    stream_.transport().expires_after(std::chrono::seconds(kTimeoutSeconds));
    beast::http::async_write(stream_, response_,
                             [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                                 self->is_writing_ = false;
                                 if (error || !self->response_.keep_alive()) {
                                     self->finish();
                                     return;
                                 }
                                 self->finish_answer();
                             });
}

void Session::send_header(Status status, std::string_view type) {
    if (is_closed_) {
        return;
    }
    const auto& request = parser_->get();
    header_ = {static_cast<beast::http::status>(status), request.version()};
    header_.set(beast::http::field::server, "partita");
    header_.set("Partita-Broker", surroundings_.identity);
    header_.set(beast::http::field::content_type, type);
    header_.keep_alive(request.keep_alive());
    header_.chunked(true);
    serializer_.emplace(header_);
    is_writing_ = true;
    stream_.transport().expires_after(std::chrono::seconds(kTimeoutSeconds));
    beast::http::async_write_header(stream_, *serializer_,
                                    [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                                        self->is_writing_ = false;
                                        if (error) {
                                            self->finish();
                                            return;
                                        }
                                        self->write_next();
                                    });
}

void Session::send_piece(Piece piece) {
    if (is_closed_) {
        return;
    }
    pieces_.push_back(std::move(piece));
    if (!is_writing_) {
        write_next();
    }
}

void Session::write_next() {
    if (pieces_.empty()) {
        stream_.transport().expires_never();
        return;
    }
    is_writing_ = true;
    stream_.transport().expires_after(std::chrono::seconds(kTimeoutSeconds));
    if (pieces_.front().is_last) {
        asio::async_write(stream_, beast::http::make_chunk_last(),
                          [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                              self->is_writing_ = false;
                              if (error || !self->header_.keep_alive()) {
                                  self->finish();
                                  return;
                              }
                              self->pieces_.clear();
                              self->finish_answer();
                          });
        return;
    }
    const std::string& bytes = pieces_.front().bytes;
    asio::async_write(stream_, beast::http::make_chunk(asio::buffer(bytes)),
                      [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                          self->is_writing_ = false;
                          if (error) {
                              self->finish();
                              return;
                          }
                          if (const auto answer = self->answer_.lock()) {
                              answer->on_sent(self->pieces_.front().bytes.size());
                          }
                          self->pieces_.pop_front();
                          self->write_next();
                      });
}

void Session::answer_dropped() {
    if (is_answering_) {
        finish();
    }
}

void Session::finish_answer() {
    is_answering_ = false;
    answer_.reset();
    read();
}

void Session::close() {
    if (is_closed_) {
        return;
    }
    is_closed_ = true;
    if (const auto answer = answer_.lock()) {
        answer->on_gone();
    }
    stream_.transport().close();
    closed_(shared_from_this());
}

FileDescriptor Session::detach() {
    if (is_closed_ || is_writing_ || stream_.secured() != nullptr) {
        return {};
    }
    is_closed_ = true;
    if (const auto answer = answer_.lock()) {
        answer->on_gone();
    }
    boost::system::error_code error;
    FileDescriptor socket(stream_.transport().release_socket().release(error));
    closed_(shared_from_this());
    return error ? FileDescriptor() : std::move(socket);
}

void Session::finish() {
    boost::system::error_code ignored;
    stream_.transport().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    close();
}

}  // namespace partita::http
