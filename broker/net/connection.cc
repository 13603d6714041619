#include "broker/net/connection.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "broker/assembly/broker.h"
#include "broker/handlers/registry.h"
#include "broker/net/net_reactor.h"
#include "broker/runtime/loop/reply_memory.h"
#include "protocol/assert.h"
#include "protocol/request_header.h"

namespace partita::net {
namespace {

using boost::asio::ip::tcp;

constexpr std::size_t kSizePrefixBytes = 4;
constexpr std::size_t kLargeFrameBytes = BufferPool::kSmallestBytes / 2;
constexpr std::size_t kLargeFramesBytesMax = BufferPool::kSmallestBytes;  // of a connection in one turn
constexpr std::size_t kReadAheadBytesMax = 4 * 1024 * 1024;
constexpr std::size_t kGatheredRepliesMax = 64;

std::int32_t read_size_prefix(const std::byte* bytes) {
    std::uint32_t size = 0;
    for (std::size_t i = 0; i < kSizePrefixBytes; ++i) {
        size = size << 8 | std::to_integer<std::uint32_t>(bytes[i]);
    }
    return static_cast<std::int32_t>(size);
}

bool looks_like_http(std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), kSizePrefixBytes);
    return text == "GET " || text == "POST" || text == "HEAD" || text == "PUT " || text == "OPTI" ||
           text == "DELE" || text == "PRI ";
}

bool looks_like_tls(std::span<const std::byte> bytes) {
    // A handshake record of TLS 1.0 to 1.3.
    return bytes[0] == std::byte{0x16} && bytes[1] == std::byte{0x03};
}

std::size_t total_bytes(const runtime::Reply& reply) {
    std::size_t total = reply.bytes.size();
    for (const runtime::ReplyPiece& piece : reply.pieces) {
        total += piece.slice.size;
    }
    return total;
}

}  // namespace

Connection::Connection(NetReactor& owner, Socket socket, runtime::ClientConnection client)
    : owner_(owner), socket_(std::move(socket)), client_(std::move(client)) {}

Connection::~Connection() {
    // A closed one may outlive its reactor, held by a handler that is destroyed with the loop.
    if (!closed_ && id_ != 0) {
        owner_.reactor().remove_receiver(id_);
    }
}

void Connection::start(Siblings::iterator place, std::unique_ptr<ReadBuffer> buffer) {
    id_ = owner_.reactor().add_receiver(*this);
    place_ = place;
    last_active_ = owner_.reactor().now().monotonic;
    boost::system::error_code ignored;
    socket_.non_blocking(true, ignored);
    buffer_ = std::move(buffer);
    serve_frames();
    if (!closed_) {
        wait_readable();
    }
}

void Connection::move_to(NetReactor& target) {
    moving_to_ = &target;
    move_if_due();
}

bool Connection::move_if_due() {
    if (moving_to_ == nullptr || closed_ || !slots_.empty() || rests_until_) {
        return false;
    }
    closed_ = true;  // This object is.
    owner_.reactor().remove_receiver(id_);
    owner_.hand_over(*this, std::move(socket_), std::move(client_), std::move(buffer_), *moving_to_);
    return true;
}

void Connection::close(std::string_view reason) {
    if (closed_) {
        return;
    }
    closed_ = true;
    if (!reason.empty()) {
        owner_.log_closed(client_, reason);
    }
    if (client_.parked_fetch) {
        owner_.turn().cancel_fetch(*client_.parked_fetch);
        client_.parked_fetch.reset();
    }
    boost::system::error_code ignored;
    socket_.close(ignored);
    release_buffer();
    owner_.reactor().remove_receiver(id_);
    owner_.forget(*this);
}

bool Connection::may_serve() const {
    return !closed_ && moving_to_ == nullptr && !owner_.is_draining() && !blocked_by_park_ && !rests_until_ && !close_after_send_ && queued_reply_bytes_ < kQueuedReplyBytesMax &&
           slots_.size() < kPipelinedRequestsMax;
}

void Connection::wait_readable() {
    if (waits_for_bytes_ || closed_) {
        return;
    }
    waits_for_bytes_ = true;
    socket_.async_wait(tcp::socket::wait_read,
                       [self = owner_.share(*this)](const boost::system::error_code& error) {
                           self->waits_for_bytes_ = false;
                           if (!error && !self->closed_) {
                               self->on_readable();
                           }
                       });
}

void Connection::wait_writable() {
    if (waiting_writable_ || closed_) {
        return;
    }
    waiting_writable_ = true;
    socket_.async_wait(tcp::socket::wait_write,
                       [self = owner_.share(*this)](const boost::system::error_code& error) {
                           self->waiting_writable_ = false;
                           if (!error && !self->closed_) {
                               self->owner_.reactor().refresh_now();
                               self->send_ready();
                           }
                       });
}

void Connection::on_readable() {
    owner_.reactor().refresh_now();
    owner_.touch(*this);
    if (!may_serve()) {
        // Bytes have to wait, but a client that went away should not keep what it waits for.
        std::byte peeked;
        const ssize_t count = ::recv(socket_.native_handle(), &peeked, 1, MSG_PEEK | MSG_DONTWAIT);
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
            close("");
        }
        return;  // `resume` waits again.
    }
    // What is read in a turn is answered together, and written together where it goes to the same log. Of small requests one
    // read brings several, and reading on would let a client with a few in flight run dry and fall asleep meanwhile; large ones
    // come one by one, and gain by being written together (docs/performance.md).
    Progress progress = Progress::more;
    for (std::size_t bytes = 0; progress == Progress::more && may_serve(); bytes += next_frame_bytes_) {
        if (bytes > 0 && (next_frame_bytes_ < kLargeFrameBytes || bytes >= kLargeFramesBytesMax)) {
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
        starved_since_.reset();
        serve_frames();
    }
    if (!closed_ && progress == Progress::more) {
        waits_for_bytes_ = true;
        owner_.reactor().request_read(id_);
    } else {
        wait_readable();
    }
    owner_.finish_turn_if_full();
}

void Connection::read_again() {
    const auto self = owner_.share(*this);  // Reading may end it.
    waits_for_bytes_ = false;
    on_readable();
}

void Connection::wait_for_memory() {
    const Instant now = owner_.reactor().now().monotonic;
    if (!starved_since_) {
        starved_since_ = now;
    }
    if (now - *starved_since_ >= kStarvedMsMax) {
        close("the memory for requests stayed used up (queued.max.request.bytes)");
        return;
    }
    owner_.add_starved(*this);
}

bool Connection::make_space() {
    if (!buffer_) {
        // A client that sent large frames will send more: read them where they can be used in place.
        buffer_ = owner_.pool().take(std::min(next_frame_bytes_, kReadAheadBytesMax));
        if (!buffer_) {
            buffer_ = owner_.pool().take(0);
        }
        return true;
    }
    if (buffer_->free_space() > 0 && buffer_->begin + next_frame_bytes_ <= buffer_->capacity) {
        return true;
    }
    // The rest of the frame does not fit behind what is there. Served requests of this turn may still
    // point into the buffer, so it is not moved within but continued in another one. Its size follows
    // what was received, not what was declared.
    const std::size_t received = buffer_->filled();
    const std::size_t capacity = std::min(next_frame_bytes_, std::max(BufferPool::kSmallestBytes, 4 * received));
    if (capacity <= received) {
        return buffer_->free_space() > 0;
    }
    std::unique_ptr<ReadBuffer> larger = owner_.pool().take(capacity);
    if (!larger) {
        return false;
    }
    std::memcpy(larger->data.get(), buffer_->data.get() + buffer_->begin, received);
    larger->end = received;
    owner_.retire(std::move(buffer_));
    buffer_ = std::move(larger);
    return true;
}

Connection::Progress Connection::read_once() {
    if (!make_space()) {
        return Progress::starved;
    }
    // Up to where the frame ends that is being read or, by its predecessor's size, expected: what
    // follows it would only have to be moved into another buffer.
    const std::size_t expected = std::max(BufferPool::kSmallestBytes, next_frame_bytes_);
    const std::size_t wanted =
        std::min(buffer_->free_space(), expected > buffer_->filled() ? expected - buffer_->filled() : expected);
    const ssize_t count = ::recv(socket_.native_handle(), buffer_->data.get() + buffer_->end, wanted, MSG_DONTWAIT);
    if (count > 0) {
        buffer_->end += static_cast<std::size_t>(count);
        owner_.count_received(static_cast<std::size_t>(count));
        return static_cast<std::size_t>(count) == wanted ? Progress::more : Progress::drained;
    }
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
        if (buffer_->filled() == 0) {
            release_buffer();
        }
        return Progress::drained;
    }
    // The peer is done, or the connection broke. Replies that are still due have nobody to read them
    // reliably; Kafka drops them too.
    close("");
    return Progress::closed;
}

void Connection::serve_frames() {
    while (buffer_ && may_serve()) {
        if (buffer_->filled() < kSizePrefixBytes) {
            break;  // The next one is expected to be as large as this one was.
        }
        std::byte* const start = buffer_->data.get() + buffer_->begin;
        const std::int32_t size = read_size_prefix(start);
        if (size < 0 || size > owner_.frame_bytes_max()) {
            const std::span<const std::byte> prefix(start, kSizePrefixBytes);
            if (looks_like_http(prefix)) {
                close("an HTTP request came to the Kafka port");
            } else if (looks_like_tls(prefix)) {
                close("a TLS handshake came to a PLAINTEXT listener");
            } else {
                close("frame of " + std::to_string(size) + " bytes is outside of 0.." +
                      std::to_string(owner_.frame_bytes_max()) + " (socket.request.max.bytes)");
            }
            return;
        }
        const std::size_t frame_bytes = kSizePrefixBytes + static_cast<std::size_t>(size);
        next_frame_bytes_ = frame_bytes;
        if (buffer_->filled() < frame_bytes) {
            break;
        }
        buffer_->begin += frame_bytes;
        work_ += placement::kRequestWork + frame_bytes;
        if (!serve_frame({start + kSizePrefixBytes, static_cast<std::size_t>(size)})) {
            return;
        }
    }
    if (buffer_ && buffer_->filled() == 0) {
        release_buffer();
    }
}

bool Connection::serve_frame(MutableBytes frame) {
    const std::expected<RequestHeader, HeaderError> header = parse_request_header(frame, client_.listener->unstable_versions);
    if (!header) {
        close("request header: " + std::string(to_string(header.error().failure)) +
              (header.error().failure == HeaderFailure::truncated
                   ? ""
                   : " key " + std::to_string(header.error().api_key) + " version " +
                         std::to_string(header.error().api_version)));
        return false;
    }
    const std::uint64_t slot = first_slot_ + slots_.size();
    const runtime::PendingReply pending{
        .target = {.reactor = owner_.reactor().index(), .connection = id_, .slot = slot},
        .api = header->api,
        .api_version = header->api_version,
        .correlation_id = header->correlation_id,
    };
    slots_.emplace_back();
    runtime::RequestContext context(owner_.broker(), owner_.turn(), client_, pending, header->client_id,
                                    frame.subspan(header->size));
    context.version_supported = header->version_supported;
    context.request_bytes = frame.size();
    handlers::dispatch(context);
    switch (context.outcome()) {
        case runtime::RequestContext::Outcome::replied:
            fill_slot(slot, context.take_reply());
            break;
        case runtime::RequestContext::Outcome::nothing:
            fill_slot(slot, {});
            break;
        case runtime::RequestContext::Outcome::closed:
            // Replies to earlier requests of this connection still leave.
            owner_.log_closed(client_, context.close_reason());
            close_after_send_ = true;
            fill_slot(slot, runtime::Reply{.close = true});
            break;
        case runtime::RequestContext::Outcome::deferred:
            // What was sent behind it waits, too.
            if (context.pending().throttle_ms > 0) [[unlikely]] {
                rest(context.pending().throttle_ms);
            }
            break;
        case runtime::RequestContext::Outcome::parked:
            // The reply may have been delivered already, within the handler.
            if (slot >= first_slot_ && !slots_[slot - first_slot_].ready) {
                blocked_by_park_ = true;
                parked_slot_ = slot;
            }
            break;
        case runtime::RequestContext::Outcome::none:
            PARTITA_ASSERT(false, "every handler answers, defers or closes");
    }
    return true;
}

void Connection::fill_slot(std::uint64_t slot, runtime::Reply&& reply) {
    if (closed_ || slot < first_slot_ || slot >= first_slot_ + slots_.size()) {
        return;
    }
    Slot& place = slots_[slot - first_slot_];
    PARTITA_ASSERT(!place.ready, "a request is answered once");
    const std::size_t reply_bytes = total_bytes(reply);
    queued_reply_bytes_ += reply_bytes;
    work_ += reply_bytes;
    if (reply.rest_ms > 0) {
        rest(reply.rest_ms);
    }
    place.reply = std::move(reply);
    place.ready = true;
    if (blocked_by_park_ && slot == parked_slot_) {
        blocked_by_park_ = false;
        client_.parked_fetch.reset();
    }
    if (!send_requested_) {
        send_requested_ = true;
        owner_.reactor().request_send(id_);
    }
}

void Connection::rest(std::int64_t duration_ms) {
    const Instant until = owner_.reactor().now().monotonic + duration_ms;
    rests_until_ = rests_until_ ? std::max(*rests_until_, until) : until;
    owner_.add_resting(*this, *rests_until_);
}

void Connection::send_ready() {
    send_requested_ = false;
    const auto self = owner_.share(*this);
    if (closed_ || !send_some() || move_if_due()) {
        return;
    }
    resume();
}

void Connection::resume() {
    const auto self = owner_.share(*this);  // Serving may end it.
    if (rests_until_ && *rests_until_ <= owner_.reactor().now().monotonic) {
        rests_until_.reset();
    }
    if (move_if_due() || closed_ || !may_serve()) {
        return;
    }
    serve_frames();
    if (!closed_) {
        wait_readable();
    }
}

bool Connection::send_some() {
    while (!slots_.empty() && slots_.front().ready) {
        Slot& front = slots_.front();
        if (!front.reply.pieces.empty()) {
            if (!send_front(front.reply)) {
                return !closed_;
            }
        } else {
            std::array<iovec, kGatheredRepliesMax> parts{};
            std::size_t count = 0;
            std::size_t wanted = 0;
            for (std::size_t index = 0; index < slots_.size(); ++index) {
                const Slot& slot = slots_[index];
                if (!slot.ready || !slot.reply.pieces.empty() || count == parts.size()) {
                    break;
                }
                const std::size_t skip = count == 0 ? sent_bytes_ : 0;
                parts[count].iov_base = const_cast<std::byte*>(slot.reply.bytes.data()) + skip;
                parts[count].iov_len = slot.reply.bytes.size() - skip;
                wanted += parts[count].iov_len;
                ++count;
                if (slot.reply.close) {
                    break;
                }
            }
            msghdr message{};
            message.msg_iov = parts.data();
            message.msg_iovlen = count;
            ssize_t sent = 0;
            if (wanted > 0) {
                sent = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
                if (sent < 0) {
                    return send_error(errno);
                }
                count_sent(static_cast<std::size_t>(sent));
            }
            std::size_t rest = static_cast<std::size_t>(sent);
            for (std::size_t i = 0; i < count; ++i) {
                const std::size_t length = parts[i].iov_len;
                if (rest < length) {
                    sent_bytes_ += rest;
                    wait_writable();
                    return true;
                }
                rest -= length;
                const bool close_now = slots_.front().reply.close;
                queued_reply_bytes_ -= slots_.front().reply.bytes.size();
                runtime::recycle_reply_buffer(std::move(slots_.front().reply.bytes));
                slots_.pop_front();
                ++first_slot_;
                sent_bytes_ = 0;
                if (close_now) {
                    close("");
                    return false;
                }
            }
        }
    }
    return true;
}

/// Sends (the rest of) a reply with file pieces and removes it when it is out. False when the socket
/// takes no more or the connection was closed.
bool Connection::send_front(runtime::Reply& reply) {
    while (true) {
        const bool has_piece = sent_pieces_ < reply.pieces.size();
        const std::size_t head_end = has_piece ? reply.pieces[sent_pieces_].position : reply.bytes.size();
        if (sent_bytes_ < head_end) {
            const ssize_t sent = ::send(socket_.native_handle(), reply.bytes.data() + sent_bytes_,
                                        head_end - sent_bytes_, MSG_NOSIGNAL | MSG_DONTWAIT | (has_piece ? MSG_MORE : 0));
            if (sent < 0) {
                send_error(errno);
                return false;
            }
            count_sent(static_cast<std::size_t>(sent));
            sent_bytes_ += static_cast<std::size_t>(sent);
            continue;
        }
        if (!has_piece) {
            break;
        }
        FileSlice& slice = reply.pieces[sent_pieces_].slice;
        if (sent_of_piece_ == slice.size) {
            ++sent_pieces_;
            sent_of_piece_ = 0;
            looked_at_end_ = 0;
            continue;
        }
        if (!slice.is_recent) {
            read_ahead(slice);
        }
        auto position = static_cast<off_t>(slice.position + sent_of_piece_);
        const std::size_t wanted = std::min<std::size_t>(slice.size - sent_of_piece_, kSendChunkBytes);
        const ssize_t sent = ::sendfile(socket_.native_handle(), slice.file->descriptor(), &position, wanted);
        if (sent < 0) {
            send_error(errno);
            return false;
        }
        if (sent == 0) {
            close("a log file ended before the reply that was promised from it");
            return false;
        }
        count_sent(static_cast<std::size_t>(sent));
        sent_of_piece_ += static_cast<std::uint32_t>(sent);
    }
    queued_reply_bytes_ -= total_bytes(reply);
    const bool close_now = reply.close;
    runtime::recycle_reply_buffer(std::move(reply.bytes));
    runtime::recycle_reply_pieces(std::move(reply.pieces));
    slots_.pop_front();
    ++first_slot_;
    sent_bytes_ = 0;
    sent_pieces_ = 0;
    if (close_now) {
        close("");
        return false;
    }
    return true;
}

void Connection::read_ahead(const FileSlice& slice) {
    const std::uint64_t position = slice.position + sent_of_piece_;
    if (position < looked_at_end_) {
        return;
    }
    const std::uint64_t end = position + std::min<std::uint64_t>(slice.size - sent_of_piece_, kSendChunkBytes);
    looked_at_end_ = end;
    // A reader that went back has nothing ahead of it.
    const bool follows = ahead_file_ == slice.file.get() && position <= ahead_end_ &&
                         ahead_end_ - position <= kReadAheadBytes + kSendChunkBytes;
    // Far enough ahead: asking for a little more each time would only be more calls.
    if (follows && ahead_end_ >= end + kReadAheadBytes / 2) {
        return;
    }
    const std::uint64_t from = follows ? std::max(position, ahead_end_) : position;
    const std::uint64_t to = follows ? std::min(end + kReadAheadBytes, from + kReadAheadStepBytes) : end;
    // What is in front of `from` was looked at.
    const bool is_cached = follows ? slice.file->is_cached(to - 1, 1) : slice.file->is_cached(from, to - from);
    ahead_file_ = slice.file.get();
    ahead_end_ = to;
    if (!is_cached) {
        ahead_end_ = std::min(end + kReadAheadBytes, from + kReadAheadStepBytes);
        slice.file->read_ahead(from, ahead_end_ - from);
    }
}

void Connection::count_sent(std::size_t bytes) {
    total_sent_bytes_ += bytes;
    owner_.count_sent(bytes);
}

bool Connection::is_stuck() {
    if (slots_.empty() || !slots_.front().ready) {
        return false;
    }
    int unsent = 0;
    if (::ioctl(socket_.native_handle(), SIOCOUTQ, &unsent) != 0) {
        return true;
    }
    const std::uint64_t before = std::exchange(taken_bytes_, total_sent_bytes_ - static_cast<std::uint64_t>(unsent));
    return taken_bytes_ == before;
}

/// True when the connection lives on and waits until it is writable.
bool Connection::send_error(int error_number) {
    if (error_number == EAGAIN || error_number == EWOULDBLOCK || error_number == EINTR) {
        wait_writable();
        return true;
    }
    close("");
    return false;
}

void Connection::release_buffer() {
    if (buffer_) {
        owner_.retire(std::move(buffer_));
    }
}

}  // namespace partita::net
