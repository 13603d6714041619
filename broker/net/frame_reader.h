#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "broker/net/buffers.h"
#include "protocol/try.h"
#include "protocol/types.h"

namespace partita::net {

/// A protocol's information about the first frame in the received bytes.
struct FrameSize {
    /// The size of the frame, including the bytes around its content. It is exact or, while unknown, a lower bound above the
    /// number of received bytes. 0 if the received bytes do not tell yet.
    std::size_t bytes = 0;
    /// The number of these bytes before the content, and after it.
    std::size_t head = 0;
    std::size_t tail = 0;
};

/// Collects the received bytes of a connection, and cuts them into frames as the connection's protocol demands.
///
/// The connection asks for `room`, receives into it, calls `received`, and takes frames with `next` until there are no more. A
/// frame stays in the memory that received it, and its bytes live until the end of the turn that took it. Memory follows the
/// received bytes, never the declared size, with two exceptions. A client that sent a large frame is expected to send another one
/// like it. A client that filled its room gets twice as much the next time, up to `kReachBytesMax`. If it uses less than half of
/// its room, it gets half as much.
class FrameReader {
  public:
    /// The largest buffer for an expected frame before any byte of it arrived.
    static constexpr std::size_t kExpectedBytesMax = 4 * 1024 * 1024;
    /// The most bytes of several smaller frames to receive at once.
    static constexpr std::size_t kReachBytesMax = 512 * 1024;

    /// `buffer` holds bytes that were received earlier. It may be null.
    explicit FrameReader(std::unique_ptr<ReadBuffer> buffer = nullptr) : buffer_(std::move(buffer)) {}

    /// The memory for the next received bytes. The room reaches at least to the end of the present frame unless that is too
    /// large. A frame without any received byte is expected to be as large as the one before. Empty while the request memory is
    /// used up. Call this after all whole frames were taken.
    [[nodiscard]] MutableBytes room(BufferPool& pool);
    /// Tells that the first `bytes` of the room were filled. Call this once for each `room`.
    void received(std::size_t bytes);

    /// Takes the content of the next whole frame; empty if there is none yet. `measure` receives the bytes that were received and
    /// not taken, at least one. It returns std::expected<FrameSize, std::string>. Its error is the reason, for the log, why the
    /// caller must close the connection.
    template <class Measure>
    [[nodiscard]] std::expected<std::optional<MutableBytes>, std::string> next(const Measure& measure);

    /// Gives back the frame that `next` took last: `next` finds it again. Call it before anything else is called.
    void give_back() { buffer_->begin -= frame_bytes_; }

    /// The size of the last frame found, with the bytes around its content, even if the frame is not whole yet; 0 before the
    /// first one. The next frame is expected to be as large.
    [[nodiscard]] std::size_t frame_bytes() const { return frame_bytes_; }
    /// The number of bytes received and not taken.
    [[nodiscard]] std::size_t waiting_bytes() const { return buffer_ ? buffer_->filled() : 0; }

    /// Returns the buffer to the pool unless it holds bytes, because an idle connection must hold no buffer.
    void release_if_empty(BufferPool& pool);
    void release(BufferPool& pool);
    /// Releases the buffer for the connection's next reactor; null if there is none.
    [[nodiscard]] std::unique_ptr<ReadBuffer> take_buffer() { return std::move(buffer_); }

  private:
    [[nodiscard]] bool make_space(BufferPool& pool);

    std::unique_ptr<ReadBuffer> buffer_;
    std::size_t frame_bytes_ = 0;
    // The size of the last `room`, and the number of bytes to receive at once.
    std::uint32_t room_bytes_ = 0;
    std::uint32_t reach_bytes_ = BufferPool::kSmallestBytes;
};

template <class Measure>
std::expected<std::optional<MutableBytes>, std::string> FrameReader::next(const Measure& measure) {
    const std::size_t received = waiting_bytes();
    if (received == 0) {
        return std::nullopt;
    }
    std::byte* const start = buffer_->data.get() + buffer_->begin;
    std::expected<FrameSize, std::string> size = measure(Bytes(start, received));
    PARTITA_TRY(size);
    if (size->bytes == 0) {
        return std::nullopt;  // The next frame is expected to be as large as the last one.
    }
    frame_bytes_ = size->bytes;
    if (received < frame_bytes_) {
        return std::nullopt;
    }
    buffer_->begin += frame_bytes_;
    return MutableBytes(start + size->head, frame_bytes_ - size->head - size->tail);
}

}  // namespace partita::net
