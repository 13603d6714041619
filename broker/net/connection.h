#pragma once

#include <cstdint>
#include <limits>
#include <list>
#include <memory>
#include <string_view>
#include <utility>

#include "broker/handlers/request_context.h"
#include "broker/net/any_transport.h"
#include "broker/net/buffers.h"
#include "broker/net/conversation.h"
#include "broker/net/placement.h"
#include "broker/net/read_ahead.h"
#include "broker/net/socket.h"
#include "broker/runtime/partitions/turn.h"

namespace partita::net {

class NetReactor;

/// One client connection: a Conversation, the Transport that carries it, and the events that drive both.
///
/// Requests are served as they are parsed; several in one read are served in one turn and answered in one write. While the
/// conversation serves nothing, nothing is received.
///
/// An idle connection holds no buffer. Owned by its NetReactor; all calls on its reactor's thread.
class Connection final : public runtime::ReplyReceiver, public std::enable_shared_from_this<Connection> {
  public:
    using Siblings = std::list<std::shared_ptr<Connection>>;
    /// How long a request may wait for request memory. Halves of requests can hold all of it so that none of
    /// them can be completed; closing the one that waited longest lets the others go on.
    static constexpr std::int64_t kStarvedMsMax = 10'000;

    /// What a connection is made of, and what it takes along to another reactor.
    struct Belongings {
        Socket socket;
        /// Over that socket.
        AnyTransport transport;
        runtime::ClientConnection client;
        /// What was received and not served yet; null when that is nothing.
        std::unique_ptr<ReadBuffer> buffer;
    };

    Connection(NetReactor& owner, Belongings belongings);
    ~Connection() override;

    /// Registers with the reactor and begins to read. `place` is its own among those of its reactor.
    void start(Siblings::iterator place);
    /// Leaves for another reactor as soon as no request of it is under way. Nothing is served before.
    void move_to(NetReactor& target);
    /// Serves requests that were read but had to wait; called when the obstacle went away.
    void resume();
    void close(std::string_view reason);

    void fill_slot(std::uint64_t slot, runtime::Reply&& reply) override;
    void send_ready() override;
    void read_again() override;

    /// Among the connections of its reactor; the end of them once it has left.
    [[nodiscard]] Siblings::iterator place() const { return place_; }
    /// Gives its place up, for `end`.
    [[nodiscard]] Siblings::iterator leave(Siblings::iterator end) { return std::exchange(place_, end); }
    [[nodiscard]] Instant last_active() const { return last_active_; }
    void set_last_active(Instant now) { last_active_ = now; }
    [[nodiscard]] bool is_everything_answered() const { return conversation_.is_everything_answered(); }
    [[nodiscard]] const runtime::ClientConnection& client() const { return client_; }
    /// What it has cost its reactor since the last call, see placement::choose.
    [[nodiscard]] std::uint64_t take_work() { return std::exchange(work_, 0); }
    /// A reply is ready, and the client took nothing of what was sent since this was asked the last time.
    [[nodiscard]] bool is_stuck();

  private:
    enum class Progress : std::uint8_t { drained, more, starved, closed };

    static constexpr Instant kNotStarved{std::numeric_limits<std::int64_t>::max()};

    [[nodiscard]] Transport& transport() { return transport_of(transport_); }
    void wait_readable();
    void wait_writable();
    void on_readable();
    [[nodiscard]] Progress read_once();
    void wait_for_memory();
    [[nodiscard]] bool may_serve() const;
    void serve_requests();
    /// False when the connection was closed.
    [[nodiscard]] bool serve(const Conversation::Request& request);
    void rest(std::int64_t duration_ms);
    /// True when it has left, and this object is done.
    bool move_if_due();
    /// False when the connection was closed.
    [[nodiscard]] bool send_some();
    [[nodiscard]] Transport::Moved send_file(const ReplyQueue::Next& next);

    NetReactor& owner_;
    Socket socket_;
    AnyTransport transport_;
    runtime::ClientConnection client_;
    Conversation conversation_;
    // Null for a connection that reads what is new only.
    std::unique_ptr<ReadAhead> read_ahead_;
    std::uint64_t id_ = 0;
    Siblings::iterator place_;
    // Handed to the transport in all, and what of it had arrived at the last look of `is_stuck`.
    std::uint64_t total_sent_bytes_ = 0;
    std::uint64_t taken_bytes_ = 0;
    Instant last_active_;
    std::uint64_t work_ = 0;
    NetReactor* moving_to_ = nullptr;
    // Since when there is no memory for the rest of its request.
    Instant starved_since_ = kNotStarved;
    // Events that were asked for: `on_readable`, by the socket or by `read_again`; the socket takes bytes; `send_ready`.
    bool waits_for_bytes_ = false;
    bool waits_for_space_ = false;
    bool send_requested_ = false;
};

}  // namespace partita::net
