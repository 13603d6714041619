#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "broker/runtime/loop/reply.h"
#include "protocol/types.h"
#include "schedule/executor.h"

namespace boost::asio {
class io_context;
}

namespace partita::runtime {

/// What a reactor knows of a connection. Implemented in broker/net.
class ReplyReceiver {
  public:
    virtual ~ReplyReceiver() = default;
    /// Fills a slot; the reply leaves when all slots before it are filled and `send_ready` runs.
    virtual void fill_slot(std::uint64_t slot, Reply&& reply) = 0;
    /// Sends whatever is ready, in one write where possible. Called once per loop turn at most.
    virtual void send_ready() = 0;
    /// Reads what is probably there already; after `request_read`.
    virtual void read_again() = 0;
};

/// Work that is done at the end of every loop turn, in order of registration: staged appends are
/// written, waiting fetches are woken. A source may also have a deadline.
class TurnParticipant {
  public:
    virtual ~TurnParticipant() = default;
    /// Runs at the end of a turn, before replies are sent.
    virtual void end_turn(Now now) = 0;
    /// When the reactor must run a turn even if nothing happens on its sockets.
    [[nodiscard]] virtual std::optional<Instant> next_deadline() = 0;
};

/// One thread, one event loop, run to completion.
///
/// A loop turn handles what is ready (bounded), then lets the participants finish their work, then
/// sends all replies that became ready. Requests are thus batched by the load itself: appends of all
/// connections served in a turn reach the kernel in one write per partition, replies of a connection
/// leave in one write. Nothing here waits for a disk.
///
/// Everything but `post`, `deliver` and `wake_at` belongs to the reactor's own thread.
class Reactor {
  public:
    Reactor(std::uint32_t index, Clock& clock);
    ~Reactor();
    Reactor(const Reactor&) = delete;
    Reactor& operator=(const Reactor&) = delete;

    [[nodiscard]] std::uint32_t index() const { return index_; }
    [[nodiscard]] boost::asio::io_context& context();

    /// Runs until `stop`. The calling thread becomes the reactor's thread.
    void run();
    /// From any thread.
    void stop();
    /// One turn that waits for nothing, for whoever runs the reactor instead of `run`; the calling thread is the reactor's meanwhile.
    /// Answers when the next one is due, unless something is posted before: `kAtOnce` while there may be more to do.
    [[nodiscard]] Instant step();
    /// Runs `work` on the reactor's thread, in order of posting. From any thread.
    void post(std::function<void()> work);

    /// Hands a reply to its connection, on whatever thread this is called. Dropped when the
    /// connection is gone.
    static void deliver(std::span<const std::unique_ptr<Reactor>> reactors, const ReplyTarget& target,
                        Reply&& reply);

    /// Makes sure that a turn runs at `deadline` or before. From any thread.
    void wake_at(Instant deadline);

    void add_participant(TurnParticipant& participant) { participants_.push_back(&participant); }

    /// Connections. Ids are never used again.
    std::uint64_t add_receiver(ReplyReceiver& receiver);
    void remove_receiver(std::uint64_t id);
    /// Asks for `send_ready` at the end of this turn.
    void request_send(std::uint64_t id) { to_send_.push_back(id); }
    /// Asks for `read_again` at the beginning of the next turn, which then waits for nothing. Cheaper than an event for a
    /// connection of which more is expected; what is ready elsewhere has its turn nevertheless.
    void request_read(std::uint64_t id) { to_read_.push_back(id); }

    /// The clock as read when the current event began.
    [[nodiscard]] Now now() const { return now_; }
    void refresh_now() { now_ = clock_.now(); }

    /// Finishes the turn early, because its buffers are full. Only from the top of an event.
    void finish_turn();

    [[nodiscard]] std::size_t receiver_count() const { return receiver_count_.load(std::memory_order_relaxed); }

  private:
    struct Loop;

    /// Serves what is ready, bounded; waits until there is something if `may_wait`. How much there was; none when it is time to end.
    [[nodiscard]] std::optional<int> serve_ready(bool may_wait);
    /// When a turn is due though nothing happens. Once at the end of a turn.
    [[nodiscard]] Instant next_turn();
    void arm_timer(Instant next);
    void fill(const ReplyTarget& target, Reply&& reply);

    const std::uint32_t index_;
    Clock& clock_;
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
