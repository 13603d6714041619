#pragma once

#include <cstdint>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "broker/logs/turn.h"
#include "broker/net/any_transport.h"
#include "broker/net/buffers.h"
#include "broker/net/conversation.h"
#include "broker/net/front.h"
#include "broker/net/pending_logins.h"
#include "broker/net/reactor_choice.h"
#include "broker/net/read_ahead.h"
#include "broker/net/socket.h"
#include "broker/runtime/clients/client_connection.h"
#include "broker/runtime/loop/reactor.h"

namespace partita::net {

class NetReactor;

/// One client connection: a Conversation, the Transport that carries it, the Front of its protocol, and the events that drive
/// them.
///
/// It serves requests as it parses them. It serves the requests of one read in one turn and answers them in one write. While the
/// conversation may serve no request, the connection receives nothing.
///
/// An idle connection holds no buffer. Its NetReactor owns it, and only that reactor's thread calls it.
class Connection final : public runtime::ReplyReceiver, public std::enable_shared_from_this<Connection> {
  public:
    using Siblings = std::list<std::shared_ptr<Connection>>;
    /// How long a connection may wait for request memory before it is closed. Incomplete requests can hold all of that memory, so
    /// that none can be completed. Closing the connection that waited longest lets the others proceed.
    static constexpr std::int64_t kStarvedMsMax = 10'000;

    /// How long a connection that is about to be reset waits until its client has taken what was sent. A reset drops the rest.
    static constexpr std::int64_t kResetWaitMsMax = 5'000;
    static constexpr std::int64_t kResetRetryMs = 10;

    /// The parts of a connection, which it takes along to another reactor.
    struct Belongings {
        Socket socket;
        /// Sends and receives over `socket`.
        AnyTransport transport;
        runtime::ClientConnection client;
        /// The protocol of the listener. Never null.
        Front* front = nullptr;
        /// The front's state for this connection; may be null.
        std::unique_ptr<ProtocolState> state;
        /// When the client connected; unused if the front knows the client.
        Instant came{};
        /// Bytes that were received but not served yet; null if there are none.
        std::unique_ptr<ReadBuffer> buffer;
    };

    Connection(NetReactor& owner, Belongings belongings);
    ~Connection() override;

    /// Registers with the reactor and starts to read. `place` is this connection's position in the reactor's list.
    void start(Siblings::iterator place);
    /// Moves to another reactor once all requests taken so far are answered. This reactor serves no further request of it.
    void move_to(NetReactor& target);
    /// Gives up the socket with all that belongs to it; null if a request is not answered, or if the front has a state for this
    /// client. The reactor must not be running a turn for it any more.
    [[nodiscard]] std::optional<Belongings> release();
    /// Serves received requests that had to wait. The reactor calls this when the reason to wait may be gone: a reply was sent,
    /// the rest is over, or request memory may be free again.
    void resume();
    void close(std::string_view reason);

    void fill_slot(std::uint64_t slot, runtime::Reply&& reply) override;
    void send_ready() override;
    void read_again() override;
    void end_rest() override;

    /// The position in the reactor's list; the list's end once the connection was removed from it.
    [[nodiscard]] Siblings::iterator place() const { return place_; }
    /// Returns the position and replaces it by `end`.
    [[nodiscard]] Siblings::iterator leave(Siblings::iterator end) { return std::exchange(place_, end); }
    [[nodiscard]] Instant last_active() const { return last_active_; }
    void set_last_active(Instant now) { last_active_ = now; }
    /// Nobody waits for a reply any more.
    [[nodiscard]] bool is_everything_answered() const {
        return conversation_.is_everything_answered() || conversation_.is_silent();
    }
    /// A request waits, though its reply is not due yet.
    [[nodiscard]] bool is_postponed() const { return conversation_.is_postponed(); }
    [[nodiscard]] const runtime::ClientConnection& client() const { return client_; }
    [[nodiscard]] Front& front() { return front_; }
    /// The cost of this connection for its reactor since the last call, for reactor_choice::choose: bytes, and
    /// reactor_choice::kRequestWork for each request.
    [[nodiscard]] std::uint64_t take_work() { return std::exchange(work_, 0); }
    /// True if a reply is ready and the client has taken none of the sent bytes since the last call.
    [[nodiscard]] bool is_stuck();

  private:
    enum class Progress : std::uint8_t { drained, more, starved, closed };

    /// The state of a connection whose client is not authenticated yet.
    struct Unknown final : PendingLogins::Waiter {
        Unknown(Connection& connection, Instant came) : connection(connection), place{.came = came} {}
        void turn_away(std::string_view reason) override { connection.close(reason); }

        Connection& connection;
        PendingLogins::Place place;
    };

    /// A reply that fills its slot once the connection has rested.
    struct HeldReply {
        std::uint64_t slot = 0;
        runtime::Reply reply;
    };

    /// State that few connections need.
    struct Rare {
        /// Set once the connection sends older records.
        std::optional<ReadAhead> read_ahead;
        /// The front's state for this connection; may be null.
        std::unique_ptr<ProtocolState> state;
        /// Set until the front knows the client.
        std::optional<Unknown> unknown;
        /// The last reply of the connection, sent after a delay; mostly null.
        std::unique_ptr<HeldReply> held;
        /// The reactor that the connection moves to; null if it stays.
        NetReactor* moving_to = nullptr;
        /// When to send more of a reply that has a treatment; kNever if there is nothing to wait for.
        Instant sends_at = kNever;
        /// When the connection is reset at the latest, once it is about to be.
        Instant resets_at = kNever;
        /// The connection ends without the message that its transport has for this.
        bool is_reset = false;
    };

    static constexpr Instant kNotStarved{std::numeric_limits<std::int64_t>::max()};

    [[nodiscard]] Transport& transport() { return transport_of(transport_); }
    [[nodiscard]] Rare& rare();
    [[nodiscard]] ProtocolState* state() const { return rare_ == nullptr ? nullptr : rare_->state.get(); }
    /// Ends the client's wait among the pending logins. No effect if it does not wait.
    void leave_pending_logins();
    void wait_readable();
    void wait_writable();
    void on_readable();
    [[nodiscard]] Progress read_once();
    /// Receives bytes of a client that gets no replies any more, until it goes away.
    void discard();
    void wait_for_memory();
    [[nodiscard]] bool may_serve() const;
    void serve_requests();
    /// Applies the outcome of a request that was not refused to the conversation.
    void settle(Served&& served);
    /// Serves no further request, and ends the connection with the reply to this one.
    void end_with(Served&& served);
    void rest(std::int64_t duration_ms);
    void rest_until(Instant until);
    [[nodiscard]] Belongings pack();
    /// Moves the connection if it may leave now. Returns true if it has moved; the caller must then not use this object any more.
    bool move_if_due();
    /// Returns false if the connection was closed.
    [[nodiscard]] bool send_some();
    [[nodiscard]] Transport::Moved send_file(const ReplyQueue::Next& next);
    /// Follows the treatment of the reply that `next` belongs to. Returns false if nothing of it may leave now; otherwise `next`
    /// has only what may leave. `parts` is the memory that `next` uses.
    [[nodiscard]] bool may_send(ReplyQueue::Next& next, std::span<Bytes> parts);
    void send_at(Instant time);
    /// Prepares a reset by `close`. Returns false while sent bytes have not arrived.
    [[nodiscard]] bool may_reset(Instant now);

    NetReactor& owner_;
    Socket socket_;
    AnyTransport transport_;
    runtime::ClientConnection client_;
    Front& front_;
    Conversation conversation_;
    // Null for most connections.
    std::unique_ptr<Rare> rare_;
    std::uint64_t id_ = 0;
    Siblings::iterator place_;
    // The number of bytes that the transport took in total, and how many of them the client had taken at the last call of
    // `is_stuck`.
    std::uint64_t total_sent_bytes_ = 0;
    std::uint64_t taken_bytes_ = 0;
    Instant last_active_;
    std::uint64_t work_ = 0;
    // When the connection began to wait for request memory.
    Instant starved_since_ = kNotStarved;
    // The events that are requested and still outstanding: bytes to read (from the socket, or `read_again` of the reactor), room
    // to write, and `send_ready` of the reactor.
    bool waits_for_bytes_ = false;
    bool waits_for_space_ = false;
    bool send_requested_ = false;
};

}  // namespace partita::net
