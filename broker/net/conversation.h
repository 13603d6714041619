#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "broker/net/frame_reader.h"
#include "broker/net/reply_queue.h"
#include "protocol/types.h"

namespace partita::net {

/// What is said on one connection, without the socket that carries it: bytes come in, requests go out to be served, replies come
/// in, and what is to be sent goes out. It decides which request may be served and when the connection may leave its reactor;
/// time comes in as a value.
///
/// Requests are served one after the other. As with Kafka's muted channel, none is served behind one that is parked (a waiting
/// fetch, a join, a sync), nor while the connection rests after a reply that told the client to wait, nor while more than
/// `kQueuedReplyBytesMax` wait to be sent, nor while `kPipelinedRequestsMax` wait for their replies. Then the connection receives
/// nothing either, and TCP pushes back on the client. Replies leave in the order of the requests.
class Conversation {
  public:
    static constexpr std::size_t kQueuedReplyBytesMax = 4 * 1024 * 1024;
    static constexpr std::size_t kPipelinedRequestsMax = 1024;

    struct Request {
        /// Without its size. Lives until the end of the turn.
        MutableBytes frame;
        /// Where its reply belongs.
        std::uint64_t slot = 0;
    };

    /// `buffer`, which may be null, has what was received before on another reactor.
    explicit Conversation(std::unique_ptr<ReadBuffer> buffer = nullptr) : reader_(std::move(buffer)) {}

    /// Bytes: see FrameReader. Only while it `may_serve`.
    [[nodiscard]] MutableBytes room(BufferPool& pool) { return reader_.room(pool); }
    void received(std::size_t bytes) { reader_.received(bytes); }
    [[nodiscard]] std::size_t frame_bytes() const { return reader_.frame_bytes(); }
    void release_if_empty(BufferPool& pool) { reader_.release_if_empty(pool); }

    [[nodiscard]] bool may_serve() const {
        return phase_ == Phase::open && parked_slot_ == kNone && !is_resting() && replies_.queued_bytes() < kQueuedReplyBytesMax &&
               replies_.size() < kPipelinedRequestsMax;
    }
    /// The next request to be served. None while it is not complete, or while nothing may be served. The error closes the
    /// connection, with a reason for the log.
    [[nodiscard]] std::expected<std::optional<Request>, std::string> next_request(std::int32_t frame_bytes_max);

    /// No request is served until this slot is filled; nothing happens when it is filled already.
    void park(std::uint64_t slot);
    [[nodiscard]] bool is_parked() const { return parked_slot_ != kNone; }
    /// Nothing is served before `until`, of several the latest, which is answered.
    Instant rest(Instant until);
    [[nodiscard]] bool is_resting() const { return rests_until_ != kNotResting; }
    /// It is `now`: a rest may be over.
    void advance(Instant now);
    /// Nothing is served any more. Replies of earlier requests still leave; the last slot is filled with one that closes.
    void serve_no_more();

    /// The reply for a slot. False when nobody waits for it any more: then nothing happens.
    bool fill(std::uint64_t slot, runtime::Reply&& reply);
    /// Replies: see ReplyQueue.
    [[nodiscard]] ReplyQueue::Next next_to_send(std::span<Bytes, ReplyQueue::kGatheredMax> parts) { return replies_.next(parts); }
    void sent(std::size_t bytes) { replies_.sent(bytes); }
    [[nodiscard]] bool is_reply_ready() const { return replies_.is_front_ready(); }
    [[nodiscard]] bool is_everything_answered() const { return replies_.empty(); }

    /// The connection wants to go to another reactor: nothing is served until it went. Without effect when it is about to end.
    void prepare_to_leave();
    /// It wants to, no request of it is under way, and it does not rest.
    [[nodiscard]] bool may_leave() const { return phase_ == Phase::leaving && replies_.empty() && !is_resting(); }
    /// It went: what was received and not served yet goes along, null when that is nothing. This conversation is over.
    [[nodiscard]] std::unique_ptr<ReadBuffer> leave();

    /// Nothing is served, filled or sent any more. The buffer goes back at the end of the turn.
    void end(BufferPool& pool);
    [[nodiscard]] bool is_over() const { return phase_ == Phase::over; }

  private:
    enum class Phase : std::uint8_t { open, leaving, ending, over };
    static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
    static constexpr Instant kNotResting{std::numeric_limits<std::int64_t>::min()};

    FrameReader reader_;
    ReplyQueue replies_;
    std::uint64_t parked_slot_ = kNone;
    Instant rests_until_ = kNotResting;
    Phase phase_ = Phase::open;
};

}  // namespace partita::net
