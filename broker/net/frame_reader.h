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

/// What a protocol says of the frame that stands first among the received bytes.
struct FrameSize {
    /// The size of the frame with all that surrounds its content: exactly, or a lower bound above the received bytes while it is
    /// not known. 0 when the received bytes tell nothing yet.
    std::size_t bytes = 0;
    /// How many of these bytes stand before the content, and how many behind it.
    std::size_t head = 0;
    std::size_t tail = 0;
};

/// Gathers the received bytes of a connection, and cuts frames from them where the connection's protocol says.
///
/// The connection asks for `room`, receives into it, calls `received`, and takes frames with `next` until there is none. A frame
/// stays where it was received, and its bytes live until the end of the turn in which it was taken. Memory follows the bytes
/// received and never the bytes declared, with two exceptions. A client that sent a large frame is expected to send another one
/// like it. A client that filled its room gets twice as much the next time, up to `kReachBytesMax`; when it uses less than half
/// of its room, it gets half as much.
class FrameReader {
  public:
    /// The largest buffer that is taken for an expected frame before any byte of it came.
    static constexpr std::size_t kExpectedBytesMax = 4 * 1024 * 1024;
    /// How much of several smaller frames is received at once, at most.
    static constexpr std::size_t kReachBytesMax = 512 * 1024;

    /// `buffer` holds what was received before. It may be null.
    explicit FrameReader(std::unique_ptr<ReadBuffer> buffer = nullptr) : buffer_(std::move(buffer)) {}

    /// Where the connection receives the next bytes. The room reaches at least to the end of the present frame if that is not
    /// too large; a frame of which nothing came yet is expected to be as large as the one before. Empty while the request
    /// memory is used up. Call it after all whole frames were taken.
    [[nodiscard]] MutableBytes room(BufferPool& pool);
    /// Says that the first `bytes` of the room were filled. Call it once for each `room`.
    void received(std::size_t bytes);

    /// Takes the content of the next whole frame; empty while there is none. `measure` is called with the bytes received and not
    /// taken, at least one, and returns std::expected<FrameSize, std::string>: its error is the reason, for the log, why the
    /// caller has to close the connection.
    template <class Measure>
    [[nodiscard]] std::expected<std::optional<MutableBytes>, std::string> next(const Measure& measure);

    /// Size of the frame found last, with what surrounds its content, whether it is whole or not; 0 before the first one. The
    /// next frame is expected to be as large.
    [[nodiscard]] std::size_t frame_bytes() const { return frame_bytes_; }
    /// Bytes received and not taken.
    [[nodiscard]] std::size_t waiting_bytes() const { return buffer_ ? buffer_->filled() : 0; }

    /// Gives the buffer back unless bytes wait in it, because an idle connection is to hold no buffer.
    void release_if_empty(BufferPool& pool);
    void release(BufferPool& pool);
    /// Gives up the buffer, for the connection's next reactor; null when there is none.
    [[nodiscard]] std::unique_ptr<ReadBuffer> take_buffer() { return std::move(buffer_); }

  private:
    [[nodiscard]] bool make_space(BufferPool& pool);

    std::unique_ptr<ReadBuffer> buffer_;
    std::size_t frame_bytes_ = 0;
    // The size of the last `room`, and how much is worth receiving at once.
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
        return std::nullopt;  // The next one is expected to be as large as the last one was.
    }
    frame_bytes_ = size->bytes;
    if (received < frame_bytes_) {
        return std::nullopt;
    }
    buffer_->begin += frame_bytes_;
    return MutableBytes(start + size->head, frame_bytes_ - size->head - size->tail);
}

}  // namespace partita::net
