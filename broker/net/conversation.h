#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "broker/net/frame_reader.h"
#include "broker/net/reply_queue.h"
#include "protocol/try.h"
#include "protocol/types.h"

namespace partita::net {

/// The exchange on one connection, independent of its socket and protocol. The connection hands in received bytes, and the front
/// takes out requests to serve. The connection hands in replies and takes out bytes to send. The conversation decides which
/// request may be served and when the connection may move to another reactor. Time comes in as a value. Only the connection's
/// reactor calls it.
///
/// Requests are served one after the other. As with Kafka's muted channel, no request is served
/// - behind one that is parked (a waiting fetch, a join, a sync),
/// - while the connection rests after a reply that told the client to wait,
/// - while `kQueuedReplyBytesMax` or more bytes of replies wait to be sent,
/// - while `kPipelinedRequestsMax` requests wait for their replies.
/// Then the connection receives nothing either, and TCP pushes back on the client. Replies leave in the order of the requests.
class Conversation {
  public:
    static constexpr std::size_t kQueuedReplyBytesMax = 4 * 1024 * 1024;
    static constexpr std::size_t kPipelinedRequestsMax = 1024;

    struct Request {
        /// The content of the frame. The bytes live until the end of the turn.
        MutableBytes frame;
        /// The slot for the reply.
        std::uint64_t slot = 0;
    };

    /// `buffer` holds bytes that the connection received earlier, on another reactor. It may be null.
    explicit Conversation(std::unique_ptr<ReadBuffer> buffer = nullptr) : reader_(std::move(buffer)) {}

    /// Receiving, as in FrameReader. Call these only while `may_serve`.
    [[nodiscard]] MutableBytes room(BufferPool& pool) { return reader_.room(pool); }
    void received(std::size_t bytes) { reader_.received(bytes); }
    [[nodiscard]] std::size_t frame_bytes() const { return reader_.frame_bytes(); }
    void release_if_empty(BufferPool& pool) { reader_.release_if_empty(pool); }

    [[nodiscard]] bool may_serve() const {
        return phase_ == Phase::open && !is_silent_ && parked_slot_ == kNone && !is_resting() &&
               replies_.queued_bytes() < kQueuedReplyBytesMax && replies_.size() < kPipelinedRequestsMax;
    }
    /// Takes the next request to serve: a frame that `measure` delimits (FrameReader::next). Empty if no whole request was
    /// received, or if none may be served now. The error is the reason, for the log, why the caller must close the connection.
    template <class Measure>
    [[nodiscard]] std::expected<std::optional<Request>, std::string> next_request(const Measure& measure);

    /// Gives back the request that `next_request` took last: it stays the next one. Call it before anything else is called.
    void give_back(std::uint64_t slot) {
        reader_.give_back();
        replies_.give_back(slot);
        is_postponed_ = true;
    }

    /// Gives the reply to the request that `next_request` took last a treatment. Call it before the slot is filled.
    void treat(std::uint64_t slot, std::unique_ptr<runtime::ReplyTreatment> treatment) {
        replies_.treat(slot, std::move(treatment));
    }

    /// True while a request that was given back waits.
    [[nodiscard]] bool is_postponed() const { return is_postponed_; }
    /// Serves no further request, and no reply to the last one comes. The caller discards what it receives.
    void silence() { is_silent_ = true; }
    [[nodiscard]] bool is_silent() const { return is_silent_; }

    /// Serves no request until `slot` is filled. No effect if it is already filled.
    void park(std::uint64_t slot);
    [[nodiscard]] bool is_parked() const { return parked_slot_ != kNone; }
    /// Serves no request before `until`; after several calls, before the latest of these times. Returns that time.
    Instant rest(Instant until);
    [[nodiscard]] bool is_resting() const { return rests_until_ != kNotResting; }
    /// Ends the rest if its time is over. The connection calls this before it looks for requests again.
    void advance(Instant now);
    /// Ends the rest, whatever its time.
    void end_rest() { rests_until_ = kNotResting; }
    /// Serves no further request. Replies to earlier requests still leave. The caller fills the last slot with a reply that
    /// closes the connection.
    void serve_no_more();

    /// Puts the reply into its slot. Returns false, without effect, if the conversation is over or the slot does not exist any
    /// more.
    bool fill(std::uint64_t slot, runtime::Reply&& reply);
    /// Sending, as in ReplyQueue.
    [[nodiscard]] ReplyQueue::Next next_to_send(std::span<Bytes, ReplyQueue::kGatheredMax> parts) { return replies_.next(parts); }
    void sent(std::size_t bytes) { replies_.sent(bytes); }
    [[nodiscard]] bool is_reply_ready() const { return replies_.is_front_ready(); }
    [[nodiscard]] bool is_everything_answered() const { return replies_.empty(); }

    /// Serves no further request, because the connection is about to move to another reactor. No effect if the connection is
    /// ending.
    void prepare_to_leave();
    /// True if the connection is about to move, every request is answered, and it does not rest.
    [[nodiscard]] bool may_leave() const { return phase_ == Phase::leaving && replies_.empty() && !is_resting(); }
    /// Ends this conversation because the connection moves. Returns the bytes that were received but not served, or null if there
    /// is no buffer. Call this only if `may_leave`.
    [[nodiscard]] std::unique_ptr<ReadBuffer> leave();

    /// Ends the conversation: it serves no request and fills no slot any more. The buffer returns to `pool` at the end of the
    /// turn.
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
    bool is_postponed_ = false;
    bool is_silent_ = false;
};

template <class Measure>
std::expected<std::optional<Conversation::Request>, std::string> Conversation::next_request(const Measure& measure) {
    if (!may_serve()) {
        return std::nullopt;
    }
    std::expected<std::optional<MutableBytes>, std::string> frame = reader_.next(measure);
    PARTITA_TRY(frame);
    if (!*frame) {
        return std::nullopt;
    }
    is_postponed_ = false;
    return Request{.frame = **frame, .slot = replies_.take_slot()};
}

}  // namespace partita::net
