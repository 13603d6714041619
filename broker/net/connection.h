#pragma once

#include <cstdint>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "broker/logs/turn.h"
#include "broker/net/anteroom.h"
#include "broker/net/any_transport.h"
#include "broker/net/buffers.h"
#include "broker/net/conversation.h"
#include "broker/net/front.h"
#include "broker/net/reactor_choice.h"
#include "broker/net/read_ahead.h"
#include "broker/net/socket.h"
#include "broker/runtime/clients/client_connection.h"
#include "broker/runtime/loop/reactor.h"

namespace partita::net {

class NetReactor;

/// One client connection: a Conversation, the Transport that carries it, the Front that understands it, and the events that drive
/// them.
///
/// It serves requests as it parses them. Requests that came in one read are served in one turn and answered in one write.
/// While the conversation may serve no request, the connection receives nothing.
///
/// An idle connection holds no buffer. Its NetReactor owns it, and only that reactor's thread calls it.
class Connection final : public runtime::ReplyReceiver, public std::enable_shared_from_this<Connection> {
  public:
    using Siblings = std::list<std::shared_ptr<Connection>>;
    /// How long a connection may wait for request memory before it is closed. Incomplete requests can hold all of that memory,
    /// so that none of them can be completed; closing the connection that waited longest lets the others go on.
    static constexpr std::int64_t kStarvedMsMax = 10'000;

    /// What a connection is made from, and what it takes along to another reactor.
    struct Belongings {
        Socket socket;
        /// Sends and receives over `socket`.
        AnyTransport transport;
        runtime::ClientConnection client;
        /// What the listener speaks. Never null.
        Front* front = nullptr;
        /// What the front keeps for this connection; may be null.
        std::unique_ptr<ProtocolState> state;
        /// When the client connected; of no consequence when the front knows who it is.
        Instant came{};
        /// Bytes that were received and not served yet; null when there are none.
        std::unique_ptr<ReadBuffer> buffer;
    };

    Connection(NetReactor& owner, Belongings belongings);
    ~Connection() override;

    /// Registers with the reactor and begins to read. `place` is this connection's position in the reactor's list.
    void start(Siblings::iterator place);
    /// Moves to another reactor as soon as all requests taken so far are answered. No further request is served here.
    void move_to(NetReactor& target);
    /// Serves requests that were received but had to wait. Called when the reason to wait may be gone: a reply was sent, the time
    /// to rest is over, or there may be request memory again.
    void resume();
    void close(std::string_view reason);

    void fill_slot(std::uint64_t slot, runtime::Reply&& reply) override;
    void send_ready() override;
    void read_again() override;

    /// The position in the reactor's list; the list's end once the connection was removed from it.
    [[nodiscard]] Siblings::iterator place() const { return place_; }
    /// Returns the position and replaces it by `end`.
    [[nodiscard]] Siblings::iterator leave(Siblings::iterator end) { return std::exchange(place_, end); }
    [[nodiscard]] Instant last_active() const { return last_active_; }
    void set_last_active(Instant now) { last_active_ = now; }
    [[nodiscard]] bool is_everything_answered() const { return conversation_.is_everything_answered(); }
    [[nodiscard]] const runtime::ClientConnection& client() const { return client_; }
    [[nodiscard]] Front& front() { return front_; }
    /// What this connection has cost its reactor since the last call, for reactor_choice::choose: bytes, and
    /// reactor_choice::kRequestWork for each request.
    [[nodiscard]] std::uint64_t take_work() { return std::exchange(work_, 0); }
    /// True when a reply is ready and the client has taken none of the sent bytes since the last call.
    [[nodiscard]] bool is_stuck();

  private:
    enum class Progress : std::uint8_t { drained, more, starved, closed };

    /// That it is not known yet who the client is.
    struct Unknown final : Anteroom::Guest {
        Unknown(Connection& connection, Instant came) : connection(connection), place{.came = came} {}
        void turn_away(std::string_view reason) override { connection.close(reason); }

        Connection& connection;
        Anteroom::Place place;
    };

    /// A reply that takes its slot when the connection has rested.
    struct HeldReply {
        std::uint64_t slot = 0;
        runtime::Reply reply;
    };

    /// What few connections have.
    struct Rare {
        /// Since the connection sends older records.
        std::optional<ReadAhead> read_ahead;
        /// What the front keeps for this connection; may be null.
        std::unique_ptr<ProtocolState> state;
        /// Until the front knows who the client is.
        std::optional<Unknown> unknown;
        /// The reply that ends the connection a moment from now; mostly none.
        std::unique_ptr<HeldReply> held;
        /// The reactor that the connection moves to; null when it stays.
        NetReactor* moving_to = nullptr;
    };

    static constexpr Instant kNotStarved{std::numeric_limits<std::int64_t>::max()};

    [[nodiscard]] Transport& transport() { return transport_of(transport_); }
    [[nodiscard]] Rare& rare();
    [[nodiscard]] ProtocolState* state() const { return rare_ == nullptr ? nullptr : rare_->state.get(); }
    /// The client waits no longer to be known. Without effect when it does not.
    void leave_anteroom();
    void wait_readable();
    void wait_writable();
    void on_readable();
    [[nodiscard]] Progress read_once();
    void wait_for_memory();
    [[nodiscard]] bool may_serve() const;
    void serve_requests();
    /// Does to the conversation what became of a request that was not refused.
    void settle(Served&& served);
    /// Serves no further request, and ends the connection with the reply of this one.
    void end_with(Served&& served);
    void rest(std::int64_t duration_ms);
    /// Moves the connection if it may leave now. True when it has moved: then this object must not be used any more.
    bool move_if_due();
    /// False when the connection was closed.
    [[nodiscard]] bool send_some();
    [[nodiscard]] Transport::Moved send_file(const ReplyQueue::Next& next);

    NetReactor& owner_;
    Socket socket_;
    AnyTransport transport_;
    runtime::ClientConnection client_;
    Front& front_;
    Conversation conversation_;
    // Null for most.
    std::unique_ptr<Rare> rare_;
    std::uint64_t id_ = 0;
    Siblings::iterator place_;
    // Bytes that the transport took in all, and how many of them the client had taken at the last call of `is_stuck`.
    std::uint64_t total_sent_bytes_ = 0;
    std::uint64_t taken_bytes_ = 0;
    Instant last_active_;
    std::uint64_t work_ = 0;
    // Since when the connection waits for request memory.
    Instant starved_since_ = kNotStarved;
    // Which events were asked for and have not come yet: bytes to read (from the socket, or `read_again` of the reactor), room
    // to write, and `send_ready` of the reactor.
    bool waits_for_bytes_ = false;
    bool waits_for_space_ = false;
    bool send_requested_ = false;
};

}  // namespace partita::net
