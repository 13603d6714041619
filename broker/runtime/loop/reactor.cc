#include "broker/runtime/loop/reactor.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <limits>

#include "broker/runtime/loop/clock.h"
#include "protocol/assert.h"

namespace partita::runtime {
namespace {

constexpr std::int64_t kNeverMs = std::numeric_limits<std::int64_t>::max();

// More events than this and the turn ends, so that the first of them is not answered too late.
constexpr int kEventsPerTurnMax = 64;

}  // namespace

struct Reactor::Loop {
    // The hint tells Asio that one thread runs the loop; posting from others stays allowed.
    boost::asio::io_context context{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};
    boost::asio::steady_timer timer{context};
};

Reactor::Reactor(std::uint32_t index)
    : index_(index), loop_(std::make_unique<Loop>()), now_(read_clock()), armed_ms_(kNeverMs),
      requested_ms_(kNeverMs) {}

Reactor::~Reactor() = default;

boost::asio::io_context& Reactor::context() { return loop_->context; }

void Reactor::run() {
    thread_ = std::this_thread::get_id();
    while (!stopping_) {
        reading_.swap(to_read_);
        for (const std::uint64_t id : reading_) {
            if (const auto found = receivers_.find(id); found != receivers_.end()) {
                found->second->read_again();
            }
        }
        int events = 0;
        if (reading_.empty()) {
            if (loop_->context.run_one() == 0) {
                return;
            }
            events = 1;
        }
        reading_.clear();
        while (events < kEventsPerTurnMax && loop_->context.poll_one() > 0) {
            ++events;
        }
        finish_turn();
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

void Reactor::deliver(std::span<const std::unique_ptr<Reactor>> reactors, const ReplyTarget& target,
                      Reply&& reply) {
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

void Reactor::wake_at(Instant deadline) {
    if (thread_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
        requested_ms_ = std::min(requested_ms_, deadline.value);
        return;
    }
    // The turn that follows the event arms the timer anew.
    boost::asio::post(loop_->context,
                      [this, deadline] { requested_ms_ = std::min(requested_ms_, deadline.value); });
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

void Reactor::refresh_now() { now_ = read_clock(); }

void Reactor::finish_turn() {
    refresh_now();
    // Sending can let a connection handle requests that it had read already, and these can stage
    // appends and ask for sends of their own: go on until nothing is left.
    do {
        for (TurnParticipant* participant : participants_) {
            participant->end_turn(now_);
        }
        sending_.swap(to_send_);
        for (const std::uint64_t id : sending_) {
            if (const auto found = receivers_.find(id); found != receivers_.end()) {
                found->second->send_ready();
            }
        }
        sending_.clear();
    } while (!to_send_.empty());
    for (TurnParticipant* participant : participants_) {
        participant->end_turn(now_);
    }
    arm_timer();
}

void Reactor::arm_timer() {
    if (requested_ms_ <= now_.monotonic.value) {
        requested_ms_ = kNeverMs;  // That turn has just run.
    }
    std::int64_t next_ms = requested_ms_;
    for (TurnParticipant* participant : participants_) {
        if (const std::optional<Instant> deadline = participant->next_deadline()) {
            next_ms = std::min(next_ms, deadline->value);
        }
    }
    // A timer that is too early stays: it costs one empty turn, after which it is armed for what is due
    // then. Deadlines mostly move away (every request moves the idle timeout of its connection), and
    // following each of them would cost two system calls per turn.
    if (next_ms >= armed_ms_) {
        return;
    }
    armed_ms_ = next_ms;
    loop_->timer.expires_at(std::chrono::steady_clock::time_point(std::chrono::milliseconds(next_ms)));
    loop_->timer.async_wait([this](const boost::system::error_code& error) {
        if (!error) {
            armed_ms_ = kNeverMs;
        }
    });
}

}  // namespace partita::runtime
