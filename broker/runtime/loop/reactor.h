#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "broker/runtime/loop/event_polling.h"
#include "broker/runtime/loop/reply.h"
#include "protocol/types.h"
#include "schedule/executor.h"

namespace boost::asio {
class io_context;
}

namespace partita::runtime {

/// A connection as its reactor sees it. broker/net implements it; only the reactor's thread calls it.
class ReplyReceiver {
  public:
    virtual ~ReplyReceiver() = default;
    /// Puts the reply into its slot. It leaves with a `send_ready`, once all slots before it are filled.
    virtual void fill_slot(std::uint64_t slot, Reply&& reply) = 0;
    /// Sends the replies that are ready, in one write where possible. The reactor calls this at the end of a turn, once for each
    /// `request_send`.
    virtual void send_ready() = 0;
    /// Reads bytes that have probably arrived already. The reactor calls this once for each `request_read`.
    virtual void read_again() = 0;
};

/// Work that the reactor has done at the end of every turn, for example writing staged appends and waking waiting fetches. The
/// reactor calls its participants in the order in which they were added.
class TurnParticipant {
  public:
    virtual ~TurnParticipant() = default;
    /// Called at the end of a turn before the replies are sent, and again after they were sent, because sending may let further
    /// requests be served: twice per turn or more often.
    virtual void end_turn(Now now) = 0;
    /// When the reactor must run a turn even if nothing happens on its sockets; empty for no such time.
    [[nodiscard]] virtual std::optional<Instant> next_deadline() = 0;
};

/// One thread, one event loop, run to completion.
///
/// A turn handles the events that are ready (a bounded number), lets the participants finish their work, and then sends all
/// replies that became ready. The load itself thus makes the batches: appends of all connections served in a turn reach the
/// kernel in one write per partition, and the replies of a connection leave in one write. Nothing here waits for a disk.
///
/// Any thread may call `index`, `context` (to make sockets for this reactor), `stop`, `post`, `deliver`, `wake_at` and
/// `receiver_count`. Everything else belongs to the reactor's own thread; participants may be added before it runs.
class Reactor {
  public:
    /// `seats` are for all reactors of the process and outlive them.
    Reactor(std::uint32_t index, Clock& clock, PollingSeats& seats);
    ~Reactor();
    Reactor(const Reactor&) = delete;
    Reactor& operator=(const Reactor&) = delete;

    [[nodiscard]] std::uint32_t index() const { return index_; }
    [[nodiscard]] boost::asio::io_context& context();

    /// Runs turns until `stop`. The calling thread becomes the reactor's thread.
    void run();
    void stop();
    /// One turn that waits for nothing, for whoever runs the reactor instead of `run`; the calling thread is the reactor's
    /// meanwhile. Answers when the next one is due, unless something is posted before: `kAtOnce` while there may be more to do.
    [[nodiscard]] Instant step();
    /// Runs `work` on the reactor's thread, in order of posting. From any thread.
    void post(std::function<void()> work);

    /// Hands a reply to the connection that `target` names, through that connection's reactor. The reply is dropped when the
    /// connection is gone.
    static void deliver(std::span<const std::unique_ptr<Reactor>> reactors, const ReplyTarget& target, Reply&& reply);

    /// Makes sure that a turn runs at `deadline` or before.
    void wake_at(Instant deadline);

    void add_participant(TurnParticipant& participant) { participants_.push_back(&participant); }

    /// Registers a connection and gives it an id, which is never used again. The receiver stays valid until `remove_receiver`.
    std::uint64_t add_receiver(ReplyReceiver& receiver);
    void remove_receiver(std::uint64_t id);
    /// Asks for a call of `send_ready` at the end of this turn.
    void request_send(std::uint64_t id) { to_send_.push_back(id); }
    /// Asks for a call of `read_again` at the beginning of the next turn, which then does not wait for events. For a connection
    /// that expects more bytes this is cheaper than an event of the socket. Events of other connections are still served in
    /// each turn.
    void request_read(std::uint64_t id) { to_read_.push_back(id); }

    /// The time as read when the current event began.
    [[nodiscard]] Now now() const { return now_; }
    /// Whoever serves an event calls this first.
    void refresh_now();

    /// Finishes the turn early; a NetReactor does this when the buffers of its turn are full. Call it only where no request is
    /// being served.
    void finish_turn();

    /// For how long the reactor has polled, in all, instead of sleeping: what was used of a processor and was no work.
    [[nodiscard]] std::int64_t polled_ns() const { return polled_ns_; }

    [[nodiscard]] std::size_t receiver_count() const { return receiver_count_.load(std::memory_order_relaxed); }

  private:
    struct Loop;

    /// Serves what is ready, bounded; waits until there is something if `may_wait`. How much there was; none when it is time to
    /// end.
    [[nodiscard]] std::optional<int> serve_ready(bool may_wait);
    /// Waits for the first event and serves it: polls, where this is worth while, and sleeps. False when it is time to end.
    [[nodiscard]] bool serve_next();
    void leave_seat();
    /// When a turn is due though nothing happens. Once at the end of a turn.
    [[nodiscard]] Instant next_turn();
    void arm_timer(Instant next);
    void fill(const ReplyTarget& target, Reply&& reply);

    const std::uint32_t index_;
    Clock& clock_;
    PollingSeats& seats_;
    EventPolling polling_;
    std::int64_t polled_ns_ = 0;
    /// Until the event begins for which `serve_next` waits, and when that was.
    bool is_waiting_ = false;
    bool has_seat_ = false;
    std::int64_t wait_ended_ns_ = 0;
    std::unique_ptr<Loop> loop_;
    std::atomic<std::thread::id> thread_;
    std::atomic<bool> stopping_ = false;
    Now now_;
    std::vector<TurnParticipant*> participants_;
    std::unordered_map<std::uint64_t, ReplyReceiver*> receivers_;
    std::atomic<std::size_t> receiver_count_ = 0;
    std::uint64_t last_receiver_ = 0;
    std::vector<std::uint64_t> to_send_;
    std::vector<std::uint64_t> sending_;
    std::vector<std::uint64_t> to_read_;
    std::vector<std::uint64_t> reading_;
    // What the timer is armed for, and the earliest that `wake_at` asked for.
    Instant armed_ = kNever;
    Instant requested_ = kNever;
};

}  // namespace partita::runtime
