#pragma once

#include <atomic>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/http/exchange.h"
#include "broker/http/gate.h"
#include "broker/http/http_stream.h"

namespace partita::http {

/// One HTTP connection: it reads requests one after the other, and writes each answer when it is ready.
///
/// A session belongs to the first reactor's thread. Any thread may use the `Exchange` that a session passes to `serve`.
class Session : public std::enable_shared_from_this<Session> {
  public:
    static constexpr std::size_t kRequestBytesMax = 16 * 1024;
    /// A larger body is refused with 413. Records belong to Kafka's protocol; this limit suffices for one written by hand.
    static constexpr std::size_t kBodyBytesMax = 1 << 20;
    /// How many bytes of an answer's pieces may wait to be sent.
    static constexpr std::size_t kQueuedBytesMax = 1 << 20;
    /// The time limit for the client to send a request, and to receive the bytes of one write.
    static constexpr int kTimeoutSeconds = 10;

    using Serve = std::function<void(const ExchangePointer&)>;
    /// Takes over a connection that becomes a WebSocket.
    using Upgrade = std::function<void(HttpStream, boost::beast::http::request<boost::beast::http::string_body>, Caller)>;
    using Closed = std::function<void(const std::shared_ptr<Session>&)>;

    /// The parts that all sessions of a server share; they outlive the sessions.
    struct Surroundings {
        /// See `is_own_host`.
        const std::vector<std::string>& own_names;
        /// The header Partita-Broker of every answer.
        const std::string& identity;
        const Gate& gate;
        /// Called with the address of a caller that shows a wrong token.
        std::function<void(const std::string& address)> on_wrong_token = {};
    };

    Session(HttpStream stream, const Surroundings& surroundings, Serve serve, Upgrade upgrade, Closed closed)
        : address_(address_of(stream)),
          stream_(std::move(stream)),
          surroundings_(surroundings),
          serve_(std::move(serve)),
          upgrade_(std::move(upgrade)),
          closed_(std::move(closed)) {}

    /// Does the TLS handshake if TLS is on, and reads the first request.
    void start();
    void close();
    /// Grows with the time at which the session began to wait for its client: later means greater. Unset while it answers a
    /// request.
    [[nodiscard]] std::optional<std::uint64_t> waits_since() const;

  private:
    class Answer;
    struct Piece {
        std::string bytes;
        bool is_last = false;
    };

    [[nodiscard]] static std::string address_of(HttpStream& stream);
    void read();
    void on_request();
    /// The reason not to serve the request, whatever its path; empty if it is served. This is needed because any page can make a
    /// browser send requests here.
    [[nodiscard]] std::string_view refusal(const Request& request) const;
    void refuse_stranger(const Gate::Refusal& refusal);
    void hand_over(Caller caller);
    void watch_for_close();
    // On the reactor's thread, for the current answer.
    void send_whole(Status status, std::string_view type, std::string body, const Headers& headers = {});
    void refuse_large_body();
    void send_header(Status status, std::string_view type);
    void send_piece(Piece piece);
    void answer_dropped();
    /// See Exchange::detach.
    [[nodiscard]] FileDescriptor detach();
    void write_next();
    void finish_answer();
    void finish();

    /// The client's numeric address.
    const std::string address_;
    HttpStream stream_;
    const Surroundings surroundings_;
    Serve serve_;
    Upgrade upgrade_;
    Closed closed_;
    boost::beast::flat_buffer buffer_{2 * kRequestBytesMax};
    std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
    boost::beast::http::response<boost::beast::http::string_body> response_;
    boost::beast::http::response<boost::beast::http::empty_body> header_;
    std::optional<boost::beast::http::response_serializer<boost::beast::http::empty_body>> serializer_;
    std::weak_ptr<Answer> answer_;
    /// How many requests were served. It tells late events of an earlier request from those of the current one.
    std::uint64_t served_ = 0;
    std::uint64_t waits_since_ = 0;
    std::deque<Piece> pieces_;
    bool is_answering_ = false;
    bool is_writing_ = false;
    bool is_closed_ = false;
};

}  // namespace partita::http
