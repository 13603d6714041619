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
    /// Puts the reply into its slot. `send_ready` sends it once all slots before it are filled.
    virtual void fill_slot(std::uint64_t slot, Reply&& reply) = 0;
    /// Sends the replies that are ready, in one write where possible. The reactor calls this at the end of a turn, once for each
    /// `request_send`.
    virtual void send_ready() = 0;
    /// Reads bytes that have probably arrived already. The reactor calls this once for each `request_read`.
    virtual void read_again() = 0;
    /// Ends the connection's rest, if it rests.
    virtual void end_rest() {}
};

/// Work that the reactor does at the end of every turn, for example writing staged appends and waking waiting fetches. The
/// reactor calls its participants in the order in which they were added.
class TurnParticipant {
  public:
    virtual ~TurnParticipant() = default;
    /// Called at the end of a turn before the replies are sent, and again afterwards, because sending may let further requests be
    /// served. So it runs at least twice per turn.
    virtual void end_turn(Now now) = 0;
    /// When the reactor must run a turn even if its sockets are idle; empty if it need not.
    [[nodiscard]] virtual std::optional<Instant> next_deadline() { return std::nullopt; }
    /// The same by the machine's clock (`Reactor::machine_now`), for what concerns sockets.
    [[nodiscard]] virtual std::optional<Instant> next_machine_deadline() { return std::nullopt; }
};

/// One thread with one event loop that runs each task to completion.
///
/// A turn handles the events that are ready (a bounded number), lets the participants finish their work, and then sends all
/// replies that became ready. So the load itself makes the batches. The appends of all connections served in a turn reach the
/// kernel in one write per partition. The replies of a connection leave in one write. Nothing here waits for a disk.
///
/// Any thread may call `index`, `context` (to make sockets for this reactor), `stop`, `post`, `deliver`, `wake_at` and
/// `receiver_count`. Only the reactor's own thread may call the rest. Participants may also be added before the reactor runs.
class Reactor {
  public:
    /// All reactors of the process share `seats`, which must outlive them.
    Reactor(std::uint32_t index, Clock& clock, PollingSeats& seats);
    ~Reactor();
    Reactor(const Reactor&) = delete;
    Reactor& operator=(const Reactor&) = delete;

    [[nodiscard]] std::uint32_t index() const { return index_; }
    [[nodiscard]] boost::asio::io_context& context();

    /// Runs turns until `stop`. The calling thread becomes the reactor's thread.
    void run();
    void stop();
    /// Runs one turn that does not wait, for callers that drive the reactor instead of `run`. The calling thread counts as the
    /// reactor's thread meanwhile. Returns when the next turn is due unless work is posted before; `kAtOnce` while there may be
    /// more to do.
    [[nodiscard]] Instant step();
    /// Runs `work` on the reactor's thread, in order of posting. From any thread.
    void post(std::function<void()> work);

    /// Hands a reply to the connection that `target` names, through that connection's reactor. The reply is dropped when the
    /// connection is gone.
    static void deliver(std::span<const std::unique_ptr<Reactor>> reactors, const ReplyTarget& target, Reply&& reply);

    /// Ends the rest of the connection that `target` names, in the same way.
    static void end_rest(std::span<const std::unique_ptr<Reactor>> reactors, const ReplyTarget& target);

    /// Makes sure that a turn runs at `deadline` or earlier.
    void wake_at(Instant deadline);

    void add_participant(TurnParticipant& participant) { participants_.push_back(&participant); }

    /// Registers a connection and returns its id, which is never used again. The receiver must stay valid until
    /// `remove_receiver`.
    std::uint64_t add_receiver(ReplyReceiver& receiver);
    void remove_receiver(std::uint64_t id);
    /// Asks for a call of `send_ready` at the end of this turn.
    void request_send(std::uint64_t id) { to_send_.push_back(id); }
    /// Asks for a call of `read_again` at the beginning of the next turn, which then does not wait for events. If a connection
    /// expects more bytes, this is cheaper than a socket event. Each turn still serves events of other connections.
    void request_read(std::uint64_t id) { to_read_.push_back(id); }

    /// The time as read when the current event began.
    [[nodiscard]] Now now() const { return now_; }
    /// The same on the monotonic clock of the machine. It differs from `now` only where people move the broker's clock
    /// (MovableTime): sockets, and requests that a client lets wait, keep the machine's time.
    [[nodiscard]] Instant machine_now() const { return machine_now_; }
    /// Reads the clock anew. Code that serves an event calls this first.
    void refresh_now();

    /// Finishes the turn early; a NetReactor does this when the buffers of its turn are full. Call it only where no request is
    /// being served.
    void finish_turn();

    /// The total time that the reactor has polled instead of sleeping: processor time spent without work.
    [[nodiscard]] std::int64_t polled_ns() const { return polled_ns_; }

    [[nodiscard]] std::size_t receiver_count() const { return receiver_count_.load(std::memory_order_relaxed); }

  private:
    class Bed;
    struct Loop;

    /// Serves the ready events, up to a limit. Waits for the first one if `may_wait`. Returns how many it served; empty if the
    /// reactor must end.
    [[nodiscard]] std::optional<int> serve_ready(bool may_wait);
    /// Waits for the first event and serves it. Polls if that is worthwhile, otherwise sleeps. False if the reactor must end.
    [[nodiscard]] bool serve_next();
    void leave_seat();
    void end_turn_of_all();
    /// When a turn is due even without events, by each clock. Called once at the end of a turn.
    [[nodiscard]] Instant next_turn();
    [[nodiscard]] Instant next_machine_turn();
    /// Arms the timer for the next turn that is due.
    void rest();
    /// `next` is a time of the machine's clock.
    void arm_timer(Instant next);
    void fill(const ReplyTarget& target, Reply&& reply);

    const std::uint32_t index_;
    Clock& clock_;
    /// Null unless people may move the clock.
    MovableTime* const movable_;
    PollingSeats& seats_;
    EventPolling polling_;
    std::int64_t polled_ns_ = 0;
    /// True while `serve_next` waits for an event; `wait_ended_ns_` is when that event began.
    bool is_waiting_ = false;
    bool has_seat_ = false;
    std::int64_t wait_ended_ns_ = 0;
    std::unique_ptr<Loop> loop_;
    std::atomic<std::thread::id> thread_;
    std::atomic<bool> stopping_ = false;
    Now now_;
    Instant machine_now_;
    std::vector<TurnParticipant*> participants_;
    std::unordered_map<std::uint64_t, ReplyReceiver*> receivers_;
    std::atomic<std::size_t> receiver_count_ = 0;
    std::uint64_t last_receiver_ = 0;
    std::vector<std::uint64_t> to_send_;
    std::vector<std::uint64_t> sending_;
    std::vector<std::uint64_t> to_read_;
    std::vector<std::uint64_t> reading_;
    // The time of the machine that the timer is armed for, and the earliest deadline that `wake_at` requested.
    Instant armed_ = kNever;
    Instant requested_ = kNever;
};

}  // namespace partita::runtime
