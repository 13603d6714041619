#include "broker/runtime/loop/reactor.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "protocol/assert.h"
#include "schedule/movable_time.h"

namespace partita::runtime {
namespace {

// A turn ends after this many events, so that the first of them does not wait too long for its answer.
constexpr int kEventsPerTurnMax = 64;

}  // namespace

/// How a reactor rests by a clock that people may move.
class Reactor::Bed final : public Sleeper {
  public:
    Bed(Reactor& reactor, MovableTime& time) : reactor_(reactor), time_(time) { time_.join(*this); }
    ~Bed() override { time_.leave(*this); }

    [[nodiscard]] std::string_view name() const override { return "reactor"; }
    void look(std::function<void()> looked) override {
        reactor_.post([this, looked = std::move(looked)] { looked_.push_back(looked); });
    }
    /// The turn is over, and the next one is due at `next` or earlier.
    void rest(Instant next) {
        if (time_.rests(*this, next)) {
            return;
        }
        for (const std::function<void()>& looked : std::exchange(looked_, {})) {
            looked();
        }
    }

  private:
    Reactor& reactor_;
    MovableTime& time_;
    // Calls that are due at the end of this turn. Only the reactor's thread uses them.
    std::vector<std::function<void()>> looked_;
};

struct Reactor::Loop {
    // The hint tells Asio that one thread runs the loop; posting from others stays allowed.
    boost::asio::io_context context{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};
    boost::asio::steady_timer timer{context};
    /// Only while the reactor runs by a clock that people may move.
    std::optional<Bed> bed;
};

Reactor::Reactor(std::uint32_t index, Clock& clock, PollingSeats& seats)
    : index_(index),
      clock_(clock),
      movable_(clock.movable()),
      seats_(seats),
      loop_(std::make_unique<Loop>()),
      now_(clock.now()),
      machine_now_(movable_ == nullptr ? now_.monotonic : movable_->machine_now()) {}

Reactor::~Reactor() = default;

boost::asio::io_context& Reactor::context() { return loop_->context; }

void Reactor::run() {
    thread_ = std::this_thread::get_id();
    if (movable_ != nullptr) {
        loop_->bed.emplace(*this, *movable_);
    }
    // Work that was requested before the first event has a deadline too.
    refresh_now();
    rest();
    while (!stopping_ && serve_ready(true)) {
        finish_turn();
        rest();
    }
    loop_->bed.reset();
}

Instant Reactor::step() {
    thread_ = std::this_thread::get_id();
    refresh_now();
    const std::optional<int> events = serve_ready(false);
    finish_turn();
    thread_ = std::thread::id();
    const Instant next = std::min(next_turn(), next_machine_turn());
    return events > 0 || !to_read_.empty() ? kAtOnce : next;
}

std::optional<int> Reactor::serve_ready(bool may_wait) {
    reading_.swap(to_read_);
    for (const std::uint64_t id : reading_) {
        if (const auto found = receivers_.find(id); found != receivers_.end()) {
            found->second->read_again();
        }
    }
    int events = 0;
    if (may_wait && reading_.empty()) {
        if (!serve_next()) {
            return std::nullopt;
        }
        events = 1;
    }
    reading_.clear();
    while (events < kEventsPerTurnMax && loop_->context.poll_one() > 0) {
        ++events;
    }
    return events;
}

bool Reactor::serve_next() {
    using Wait = EventPolling::Wait;
    const std::int64_t began_ns = clock_.stopwatch_ns();
    is_waiting_ = true;
    Wait wait = Wait::slept;
    bool served = false;
    if (polling_.is_worthwhile() && seats_.take()) {
        has_seat_ = true;
        std::int64_t looked_ns = 0;
        for (int looks = 0; looked_ns < EventPolling::kLongestPollNs && looks < EventPolling::kLooksMax; ++looks) {
            served = loop_->context.poll_one() > 0;
            if (served) {
                break;
            }
            looked_ns = clock_.stopwatch_ns() - began_ns;
        }
        // A reactor that lost its processor during the poll did not use that time.
        polled_ns_ += std::min(looked_ns, EventPolling::kLongestPollNs);
        wait = served ? Wait::polled : Wait::polled_in_vain;
        leave_seat();
    }
    if (!served) {
        served = loop_->context.run_one() > 0;
    }
    // Serving an event is not waiting. Timers and the HTTP side do not report when they began, so their wait includes the time to
    // serve them.
    const std::int64_t ended_ns = std::exchange(is_waiting_, false) ? clock_.stopwatch_ns() : wait_ended_ns_;
    polling_.note_wait(wait, ended_ns - began_ns);
    return served;
}

void Reactor::refresh_now() {
    now_ = clock_.now();
    machine_now_ = movable_ == nullptr ? now_.monotonic : movable_->machine_now();
    if (std::exchange(is_waiting_, false)) {
        wait_ended_ns_ = clock_.stopwatch_ns();
        leave_seat();
    }
}

void Reactor::leave_seat() {
    if (std::exchange(has_seat_, false)) {
        seats_.give_back();
    }
}

void Reactor::stop() {
    stopping_ = true;
    loop_->context.stop();
}

void Reactor::post(std::function<void()> work) {
    boost::asio::post(loop_->context, [this, work = std::move(work)] {
        refresh_now();
        work();
    });
}

void Reactor::deliver(std::span<const std::unique_ptr<Reactor>> reactors, const ReplyTarget& target, Reply&& reply) {
    PARTITA_ASSERT(target.reactor < reactors.size(), "a reply names an existing reactor");
    Reactor& owner = *reactors[target.reactor];
    if (owner.thread_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
        owner.fill(target, std::move(reply));
        return;
    }
    auto shared = std::make_shared<Reply>(std::move(reply));
    owner.post([&owner, target, shared] { owner.fill(target, std::move(*shared)); });
}

void Reactor::fill(const ReplyTarget& target, Reply&& reply) {
    const auto found = receivers_.find(target.connection);
    if (found == receivers_.end()) {
        return;
    }
    found->second->fill_slot(target.slot, std::move(reply));
}

void Reactor::end_rest(std::span<const std::unique_ptr<Reactor>> reactors, const ReplyTarget& target) {
    PARTITA_ASSERT(target.reactor < reactors.size(), "a connection lives on an existing reactor");
    Reactor& owner = *reactors[target.reactor];
    owner.post([&owner, connection = target.connection] {
        if (const auto found = owner.receivers_.find(connection); found != owner.receivers_.end()) {
            found->second->end_rest();
        }
    });
}

void Reactor::wake_at(Instant deadline) {
    if (thread_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
        requested_ = std::min(requested_, deadline);
        return;
    }
    // The turn that follows the event arms the timer anew.
    boost::asio::post(loop_->context, [this, deadline] { requested_ = std::min(requested_, deadline); });
}

std::uint64_t Reactor::add_receiver(ReplyReceiver& receiver) {
    const std::uint64_t id = ++last_receiver_;
    receivers_.emplace(id, &receiver);
    receiver_count_.store(receivers_.size(), std::memory_order_relaxed);
    return id;
}

void Reactor::remove_receiver(std::uint64_t id) {
    receivers_.erase(id);
    receiver_count_.store(receivers_.size(), std::memory_order_relaxed);
}

void Reactor::finish_turn() {
    refresh_now();
    // Sending can let a connection handle requests that it has already read. These can stage appends and ask for sends of their
    // own, so repeat until nothing is left.
    end_turn_of_all();
    do {
        sending_.swap(to_send_);
        for (const std::uint64_t id : sending_) {
            if (const auto found = receivers_.find(id); found != receivers_.end()) {
                found->second->send_ready();
                polling_.note_reply(id);
            }
        }
        sending_.clear();
        // A participant may have more to do because of one behind it: a connection whose rest is over has an append written.
        end_turn_of_all();
    } while (!to_send_.empty());
}

void Reactor::end_turn_of_all() {
    for (TurnParticipant* participant : participants_) {
        participant->end_turn(now_);
    }
}

Instant Reactor::next_turn() {
    if (requested_ <= now_.monotonic) {
        requested_ = kNever;  // That turn has just run.
    }
    Instant next = requested_;
    for (TurnParticipant* participant : participants_) {
        if (const std::optional<Instant> deadline = participant->next_deadline()) {
            next = std::min(next, *deadline);
        }
    }
    return next;
}

Instant Reactor::next_machine_turn() {
    Instant next = kNever;
    for (TurnParticipant* participant : participants_) {
        if (const std::optional<Instant> deadline = participant->next_machine_deadline()) {
            next = std::min(next, *deadline);
        }
    }
    return next;
}

void Reactor::rest() {
    const Instant next = next_turn();
    if (movable_ == nullptr) {
        arm_timer(std::min(next, next_machine_turn()));
        return;
    }
    loop_->bed->rest(next);
    arm_timer(std::min(movable_->machine_time_of(next), next_machine_turn()));
}

void Reactor::arm_timer(Instant next) {
    // Keep a timer that fires too early: it costs one empty turn, which arms it for the next deadline. Deadlines mostly move away
    // (every request moves the idle timeout of its connection). Following each move would cost two system calls per turn.
    if (next >= armed_) {
        return;
    }
    armed_ = next;
    loop_->timer.expires_at(std::chrono::steady_clock::time_point(std::chrono::milliseconds(next.value)));
    loop_->timer.async_wait([this](const boost::system::error_code& error) {
        if (!error) {
            armed_ = kNever;
        }
    });
}

}  // namespace partita::runtime
