#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "broker/handlers/request_context.h"
#include "broker/net/buffers.h"
#include "broker/net/placement.h"
#include "broker/net/ring.h"
#include "broker/net/socket.h"
#include "broker/runtime/partitions/turn.h"

namespace partita::net {

class NetReactor;

/// One client connection: frames in, replies out, in order.
///
/// Requests are served as they are parsed; several in one read are served in one turn and answered
/// in one write. Like Kafka's muted channel, no request is served behind one that is parked (waiting
/// fetch, join, sync), nor while it rests after a reply that told the client to wait, nor while more than `kQueuedReplyBytesMax` wait to be sent: then nothing is
/// read either, and TCP pushes back on the client.
///
/// An idle connection holds no buffer. Owned by its NetReactor; all calls on its reactor's thread.
class Connection final : public runtime::ReplyReceiver, public std::enable_shared_from_this<Connection> {
  public:
    static constexpr std::size_t kQueuedReplyBytesMax = 4 * 1024 * 1024;
    static constexpr std::size_t kPipelinedRequestsMax = 1024;
    /// One sendfile at most, so that one fast reader does not hold the turn.
    static constexpr std::size_t kSendChunkBytes = 1024 * 1024;
    /// How far ahead of a reader is read whose records come from the disk, and how much more at once.
    static constexpr std::uint64_t kReadAheadBytes = 8 * 1024 * 1024;
    static constexpr std::uint64_t kReadAheadStepBytes = 2 * kSendChunkBytes;
    using Siblings = std::list<std::shared_ptr<Connection>>;
    /// How long a request may wait for request memory. Halves of requests can hold all of it so that none of
    /// them can be completed; closing the one that waited longest lets the others go on.
    static constexpr std::int64_t kStarvedMsMax = 10'000;

    Connection(NetReactor& owner, Socket socket, runtime::ClientConnection client);
    ~Connection() override;

    /// Registers with the reactor and begins to read. `place` is its own among those of its reactor; `buffer`, which may be null, has what was read before.
    void start(Siblings::iterator place, std::unique_ptr<ReadBuffer> buffer);
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
    [[nodiscard]] bool is_waiting_for_request() const { return slots_.empty() && !blocked_by_park_; }
    [[nodiscard]] const runtime::ClientConnection& client() const { return client_; }
    [[nodiscard]] bool is_idle_for_drain() const { return slots_.empty(); }
    /// What it has cost its reactor since the last call, see placement::choose.
    [[nodiscard]] std::uint64_t take_work() { return std::exchange(work_, 0); }
    /// A reply is ready, and the client took nothing of what was sent since this was asked the last time.
    [[nodiscard]] bool is_stuck();

  private:
    enum class Progress : std::uint8_t { drained, more, starved, closed };

    void wait_readable();
    void wait_writable();
    void on_readable();
    [[nodiscard]] Progress read_once();
    [[nodiscard]] bool make_space();
    void wait_for_memory();
    void serve_frames();
    /// False when the connection was closed.
    [[nodiscard]] bool serve_frame(MutableBytes frame);
    [[nodiscard]] bool may_serve() const;
    void rest(std::int64_t duration_ms);
    /// True when it has left, and this object is done.
    bool move_if_due();
    [[nodiscard]] bool send_some();
    [[nodiscard]] bool send_front(runtime::Reply& reply);
    /// Before older records are sent: has the kernel bring what follows, when they were not in the page cache. A reader of the
    /// disk would otherwise hold this thread with every send.
    void read_ahead(const FileSlice& slice);
    bool send_error(int error_number);
    void count_sent(std::size_t bytes);
    void release_buffer();

    struct Slot {
        runtime::Reply reply;
        bool ready = false;
    };

    NetReactor& owner_;
    Socket socket_;
    runtime::ClientConnection client_;
    std::uint64_t id_ = 0;
    Siblings::iterator place_;
    std::unique_ptr<ReadBuffer> buffer_;
    // Requests that are not answered yet, oldest first; the first has the number first_slot_.
    Ring<Slot> slots_;
    std::uint64_t first_slot_ = 0;
    std::uint64_t parked_slot_ = 0;
    std::size_t queued_reply_bytes_ = 0;
    // Progress within the first reply.
    std::size_t sent_bytes_ = 0;
    std::size_t sent_pieces_ = 0;
    std::uint32_t sent_of_piece_ = 0;
    // Up to where the present piece was looked at; the file that was read ahead (only compared), and up to where.
    std::uint64_t looked_at_end_ = 0;
    const File* ahead_file_ = nullptr;
    std::uint64_t ahead_end_ = 0;
    // Handed to the kernel in all, and what of it had arrived at the last look of `is_stuck`.
    std::uint64_t total_sent_bytes_ = 0;
    std::uint64_t taken_bytes_ = 0;
    std::size_t next_frame_bytes_ = 0;
    Instant last_active_;
    std::uint64_t work_ = 0;
    NetReactor* moving_to_ = nullptr;
    // Until when a quota keeps it from being served.
    std::optional<Instant> rests_until_;
    // Since when there is no memory for the rest of its request.
    std::optional<Instant> starved_since_;
    bool blocked_by_park_ = false;
    // on_readable will be called: by an event, or because read_again was asked for.
    bool waits_for_bytes_ = false;
    bool waiting_writable_ = false;
    bool send_requested_ = false;
    bool close_after_send_ = false;
    bool closed_ = false;
};

}  // namespace partita::net
