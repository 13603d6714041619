#include "broker/net/connection.h"

#include <algorithm>
#include <array>
#include <utility>

#include "broker/logs/turn.h"
#include "broker/net/net_reactor.h"
#include "broker/runtime/loop/counters.h"
#include "protocol/assert.h"

namespace partita::net {
namespace {

using boost::asio::ip::tcp;

constexpr std::size_t kLargeFrameBytes = BufferPool::kSmallestBytes / 2;
constexpr std::size_t kLargeFramesBytesMax = BufferPool::kSmallestBytes;  // of a connection in one turn

}  // namespace

Connection::Connection(NetReactor& owner, Belongings belongings)
    : owner_(owner),
      socket_(std::move(belongings.socket)),
      transport_(std::move(belongings.transport)),
      client_(std::move(belongings.client)),
      front_(*belongings.front),
      conversation_(std::move(belongings.buffer)) {
    if (belongings.state != nullptr) {
        rare().state = std::move(belongings.state);
        if (!rare_->state->knows_client()) {
            rare_->unknown.emplace(*this, belongings.came);
        }
    }
}

Connection::~Connection() {
    // A closed connection may outlive its reactor, because a handler that is destroyed with the loop may hold it.
    if (!conversation_.is_over() && id_ != 0) {
        owner_.reactor().remove_receiver(id_);
    }
}

void Connection::start(Siblings::iterator place) {
    id_ = owner_.reactor().add_receiver(*this);
    place_ = place;
    last_active_ = owner_.reactor().machine_now();
    boost::system::error_code ignored;
    socket_.non_blocking(true, ignored);
    if (rare_ != nullptr && rare_->unknown) {
        rare_->unknown->place = owner_.pending_logins().enter(*rare_->unknown, rare_->unknown->place.came);
    }
    serve_requests();
    wait_readable();
}

void Connection::move_to(NetReactor& target) {
    rare().moving_to = &target;
    conversation_.prepare_to_leave();
    move_if_due();
}

bool Connection::move_if_due() {
    if (!conversation_.may_leave()) {
        return false;
    }
    Belongings belongings = pack();
    owner_.hand_over(*this, std::move(belongings), *rare_->moving_to);
    return true;
}

Connection::Belongings Connection::pack() {
    Belongings belongings{.socket = std::move(socket_),
                          .transport = std::move(transport_),
                          .client = std::move(client_),
                          .front = &front_,
                          .state = rare_ ? std::move(rare_->state) : nullptr,
                          .came = rare_ && rare_->unknown ? rare_->unknown->place.came : Instant{},
                          .buffer = conversation_.leave()};
    leave_pending_logins();
    owner_.reactor().remove_receiver(id_);
    return belongings;
}

std::optional<Connection::Belongings> Connection::release() {
    if (state() != nullptr || conversation_.is_over()) {
        return std::nullopt;
    }
    conversation_.prepare_to_leave();
    if (!conversation_.may_leave()) {
        return std::nullopt;
    }
    return pack();
}

void Connection::close(std::string_view reason) {
    if (conversation_.is_over()) {
        return;
    }
    conversation_.end(owner_.pool());
    leave_pending_logins();
    if (!reason.empty()) {
        owner_.log_closed(client_, reason);
    }
    if (client_.parked_fetch != fetch::kNoWaiter) {
        owner_.turn().cancel_fetch(std::exchange(client_.parked_fetch, fetch::kNoWaiter));
    }
    boost::system::error_code ignored;
    if (rare_ != nullptr && rare_->is_reset) {
        socket_.set_option(boost::asio::socket_base::linger(true, 0), ignored);
    } else {
        transport().shut_down();
    }
    socket_.close(ignored);
    owner_.reactor().remove_receiver(id_);
    owner_.forget(*this);
}

Connection::Rare& Connection::rare() {
    if (rare_ == nullptr) {
        rare_ = std::make_unique<Rare>();
    }
    return *rare_;
}

void Connection::leave_pending_logins() {
    if (rare_ != nullptr && rare_->unknown) {
        owner_.pending_logins().leave(rare_->unknown->place);
        rare_->unknown.reset();
    }
}

bool Connection::may_serve() const { return conversation_.may_serve() && !owner_.is_draining(); }

void Connection::wait_readable() {
    if (waits_for_bytes_ || conversation_.is_over()) {
        return;
    }
    waits_for_bytes_ = true;
    if (transport().holds_bytes()) {
        owner_.reactor().request_read(id_);
        return;
    }
    socket_.async_wait(tcp::socket::wait_read, [self = owner_.share(*this)](const boost::system::error_code& error) {
        self->waits_for_bytes_ = false;
        if (!error && !self->conversation_.is_over()) {
            self->on_readable();
        }
    });
}

void Connection::wait_writable() {
    if (waits_for_space_ || conversation_.is_over()) {
        return;
    }
    waits_for_space_ = true;
    socket_.async_wait(tcp::socket::wait_write, [self = owner_.share(*this)](const boost::system::error_code& error) {
        self->waits_for_space_ = false;
        if (!error && !self->conversation_.is_over()) {
            self->owner_.reactor().refresh_now();
            self->send_ready();
        }
    });
}

void Connection::on_readable() {
    owner_.reactor().refresh_now();
    owner_.touch(*this);
    if (conversation_.is_silent()) {
        discard();
        return;
    }
    if (!may_serve()) {
        // The bytes must wait. But if the client went away, close the connection, so that it does not keep what it waits for.
        if (transport().is_over()) {
            close("");
        }
        return;  // `resume` waits for bytes again.
    }
    // The turn answers the requests received in it together, and writes their appends to the same log together. A client with
    // much in flight is received in large pieces (FrameReader). One piece brings several small requests. Reading on would let a
    // client with few requests in flight run dry and fall asleep meanwhile. Large requests come one by one at first
    // (docs/performance.md).
    Progress progress = Progress::more;
    for (std::size_t bytes = 0; progress == Progress::more && may_serve(); bytes += conversation_.frame_bytes()) {
        if (bytes > 0 && (conversation_.frame_bytes() < kLargeFrameBytes || bytes >= kLargeFramesBytesMax)) {
            break;
        }
        progress = read_once();
        if (progress == Progress::closed) {
            return;
        }
        if (progress == Progress::starved) {
            wait_for_memory();
            return;
        }
        starved_since_ = kNotStarved;
        serve_requests();
    }
    if (!conversation_.is_over() && progress == Progress::more) {
        waits_for_bytes_ = true;
        owner_.reactor().request_read(id_);
    } else {
        wait_readable();
    }
    owner_.finish_turn_if_full();
}

void Connection::discard() {
    const Transport::Moved moved = transport().receive(owner_.scratch());
    switch (moved.status) {
        case Transport::Status::done:
        case Transport::Status::would_block:
            wait_readable();
            return;
        case Transport::Status::ended:
        case Transport::Status::file_ended:
            close("");
            return;
    }
}

void Connection::read_again() {
    const auto self = owner_.share(*this);  // Reading may end this connection.
    waits_for_bytes_ = false;
    on_readable();
}

Connection::Progress Connection::read_once() {
    const MutableBytes room = conversation_.room(owner_.pool());
    if (room.empty()) {
        return Progress::starved;
    }
    const Transport::Moved moved = transport().receive(room);
    switch (moved.status) {
        case Transport::Status::done:
            conversation_.received(moved.bytes);
            owner_.count_received(moved.bytes);
            return moved.bytes == room.size() ? Progress::more : Progress::drained;
        case Transport::Status::would_block:
            conversation_.release_if_empty(owner_.pool());
            return Progress::drained;
        case Transport::Status::ended:
        case Transport::Status::file_ended:
            break;
    }
    // The peer has finished, or the connection broke. The peer may not read replies that are still due; Kafka drops them too.
    close("");
    return Progress::closed;
}

void Connection::wait_for_memory() {
    const Instant now = owner_.reactor().machine_now();
    starved_since_ = std::min(starved_since_, now);
    if (now - starved_since_ >= kStarvedMsMax) {
        close("no memory for requests became free (queued.max.request.bytes)");
        return;
    }
    owner_.add_starved(*this);
}

void Connection::serve_requests() {
    const Speaker speaker{.client = client_, .conversation = conversation_, .state = state(), .receiver = id_};
    while (may_serve()) {
        Served served = front_.serve_next(owner_.turn(), speaker);
        if (served.outcome == Served::Outcome::nothing) {
            break;
        }
        if (served.outcome == Served::Outcome::refused) {
            close(served.reason);
            return;
        }
        if (served.outcome == Served::Outcome::postponed) {
            rest_until(served.rests_until);
            break;
        }
        work_ += reactor_choice::kRequestWork + conversation_.frame_bytes();
        settle(std::move(served));
    }
    conversation_.release_if_empty(owner_.pool());
}

void Connection::settle(Served&& served) {
    switch (served.outcome) {
        case Served::Outcome::replied:
            fill_slot(served.slot, std::move(served.reply));
            break;
        case Served::Outcome::deferred:
            break;
        case Served::Outcome::parked:
            conversation_.park(served.slot);
            break;
        case Served::Outcome::silenced:
            conversation_.silence();
            break;
        case Served::Outcome::ended:
            end_with(std::move(served));
            break;
        case Served::Outcome::nothing:
        case Served::Outcome::postponed:
        case Served::Outcome::refused:
            PARTITA_ASSERT(false, "only a request that was taken is settled");
    }
    if (rare_ != nullptr && rare_->unknown && rare_->state->knows_client()) {
        leave_pending_logins();
        owner_.surroundings().counters.successful_authentications.fetch_add(1, std::memory_order_relaxed);
    }
    if (served.rest_ms > 0) {
        rest(served.rest_ms);
    }
}

void Connection::end_with(Served&& served) {
    owner_.log_closed(client_, served.reason);
    conversation_.serve_no_more();
    served.reply.close = true;
    if (served.rest_ms > 0) {
        rare().held = std::make_unique<HeldReply>(served.slot, std::move(served.reply));
    } else {
        fill_slot(served.slot, std::move(served.reply));
    }
}

void Connection::fill_slot(std::uint64_t slot, runtime::Reply&& reply) {
    if (reply.notes || reply.rest_ms > 0) {
        front_.replied(client_, reply);
    }
    const std::size_t reply_bytes = ReplyQueue::total_bytes(reply);
    const std::int32_t rest_ms = reply.rest_ms;
    const bool was_parked = conversation_.is_parked();
    if (!conversation_.fill(slot, std::move(reply))) {
        return;
    }
    work_ += reply_bytes;
    if (rest_ms > 0) {
        rest(rest_ms);
    }
    if (was_parked && !conversation_.is_parked()) {
        client_.parked_fetch = fetch::kNoWaiter;
    }
    if (!send_requested_) {
        send_requested_ = true;
        owner_.reactor().request_send(id_);
    }
}

void Connection::rest(std::int64_t duration_ms) { rest_until(owner_.reactor().machine_now() + duration_ms); }

void Connection::rest_until(Instant until) {
    const Instant end = conversation_.rest(until);
    if (end != kNever) {
        owner_.add_resting(*this, end);
    }
}

void Connection::end_rest() {
    const auto self = owner_.share(*this);
    owner_.reactor().refresh_now();
    conversation_.end_rest();
    resume();
}

void Connection::send_ready() {
    send_requested_ = false;
    const auto self = owner_.share(*this);
    if (conversation_.is_over() || !send_some()) {
        return;
    }
    resume();
}

void Connection::resume() {
    const auto self = owner_.share(*this);  // Serving may end this connection.
    if (conversation_.is_over()) {
        return;
    }
    const Instant now = owner_.reactor().machine_now();
    conversation_.advance(now);
    if (rare_ != nullptr && rare_->sends_at <= now) {
        rare_->sends_at = kNever;
        if (!send_some()) {
            return;
        }
    }
    if (rare_ != nullptr && rare_->held && !conversation_.is_resting()) {
        const std::unique_ptr<HeldReply> held = std::move(rare_->held);
        fill_slot(held->slot, std::move(held->reply));
        return;
    }
    if (move_if_due() || !may_serve()) {
        return;
    }
    serve_requests();
    wait_readable();
}

bool Connection::send_some() {
    std::array<Bytes, ReplyQueue::kGatheredMax> parts;
    while (true) {
        ReplyQueue::Next next = conversation_.next_to_send(parts);
        if (next.treatment != nullptr && !may_send(next, parts)) {
            return true;
        }
        Transport::Moved moved;
        switch (next.kind) {
            case ReplyQueue::Kind::nothing:
                return true;
            case ReplyQueue::Kind::close:
                close("");
                return false;
            case ReplyQueue::Kind::bytes:
                moved = transport().send(next.parts, next.more_follows);
                break;
            case ReplyQueue::Kind::file:
                moved = send_file(next);
                break;
        }
        total_sent_bytes_ += moved.bytes;
        owner_.count_sent(moved.bytes);
        switch (moved.status) {
            case Transport::Status::done:
                if (next.treatment != nullptr && next.treatment->pace) {
                    next.treatment->pace->sent(moved.bytes);
                }
                conversation_.sent(moved.bytes);
                if (next.kind == ReplyQueue::Kind::file || moved.bytes == next.parts_bytes) {
                    break;
                }
                [[fallthrough]];
            case Transport::Status::would_block:
                wait_writable();
                return true;
            case Transport::Status::ended:
                close("");
                return false;
            case Transport::Status::file_ended:
                close("a log file ended before the promised reply");
                return false;
        }
    }
}

Transport::Moved Connection::send_file(const ReplyQueue::Next& next) {
    if (!next.slice->is_recent) {
        if (!rare().read_ahead) {
            rare_->read_ahead.emplace();
        }
        rare_->read_ahead->before_sending(*next.slice, next.file_position);
    }
    const std::size_t wanted = std::min<std::size_t>(next.file_bytes, ReadAhead::kSendBytes);
    return send_from_file(transport(), *next.slice->file, next.file_position, wanted, owner_.scratch());
}

bool Connection::may_send(ReplyQueue::Next& next, std::span<Bytes> parts) {
    const Instant now = owner_.reactor().machine_now();
    if (next.kind == ReplyQueue::Kind::close) {
        return !next.treatment->reset_after_bytes || may_reset(now);
    }
    if (!next.treatment->pace) {
        return true;
    }
    const std::size_t allowed = next.treatment->pace->allowed(now);
    if (allowed == 0) {
        send_at(next.treatment->pace->next(now));
        return false;
    }
    if (next.kind == ReplyQueue::Kind::file) {
        next.file_bytes = std::min(next.file_bytes, allowed);
    } else {
        parts.front() = parts.front().first(std::min(parts.front().size(), allowed));
        next.parts_bytes = parts.front().size();
        next.more_follows = false;
    }
    return true;
}

void Connection::send_at(Instant time) {
    Rare& state = rare();
    if (state.sends_at == kNever) {
        state.sends_at = time;
        owner_.add_resting(*this, time);
    }
}

bool Connection::may_reset(Instant now) {
    Rare& state = rare();
    state.resets_at = std::min(state.resets_at, now + kResetWaitMsMax);
    if (transport().bytes_on_the_way() > 0 && now < state.resets_at) {
        send_at(now + kResetRetryMs);
        return false;
    }
    state.is_reset = true;
    return true;
}

bool Connection::is_stuck() {
    if (!conversation_.is_reply_ready()) {
        return false;
    }
    const std::uint64_t before = std::exchange(taken_bytes_, total_sent_bytes_ - transport().bytes_on_the_way());
    return taken_bytes_ == before;
}

}  // namespace partita::net
