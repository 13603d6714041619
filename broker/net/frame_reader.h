#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "broker/net/buffers.h"
#include "protocol/types.h"

namespace partita::net {

/// Cuts the bytes of a connection into frames: a size in four bytes, then so many bytes. Knows no socket.
///
/// The connection asks for `room`, receives into it, says `received`, and takes frames until there is none. A frame stays
/// where it was received, and its bytes live until the end of the turn in which it was taken. Memory follows bytes received
/// and never bytes declared, but for two guesses: a client that sent a large frame is expected to send another one, and one that had
/// sent as much as there was room for is given twice the room, up to `kReachBytesMax`, until it uses less than half of it.
class FrameReader {
  public:
    static constexpr std::size_t kSizePrefixBytes = 4;
    /// The largest frame that is expected before any of it came.
    static constexpr std::size_t kExpectedBytesMax = 4 * 1024 * 1024;
    /// Of several frames so much is received at once.
    static constexpr std::size_t kReachBytesMax = 512 * 1024;

    /// `buffer`, which may be null, has what was received before.
    explicit FrameReader(std::unique_ptr<ReadBuffer> buffer = nullptr) : buffer_(std::move(buffer)) {}

    /// Where the next bytes go: at least up to where the frame ends that is being received or, by its predecessor's size,
    /// expected, if it is not too large for that. Empty while the request memory is used up. After all whole frames were taken.
    [[nodiscard]] MutableBytes room(BufferPool& pool);
    /// `bytes` of that room were filled. Once for each `room`.
    void received(std::size_t bytes);

    /// Takes the next whole frame, without its size; none while it is not complete. The error closes the connection and says why,
    /// for the log: a frame that is larger than `frame_bytes_max`, or that is none.
    [[nodiscard]] std::expected<std::optional<MutableBytes>, std::string> next(std::int32_t frame_bytes_max);

    /// Size of the frame that was found last, whole or not; 0 at first. The next one is expected to be as large.
    [[nodiscard]] std::size_t frame_bytes() const { return frame_bytes_; }
    /// Received and not taken.
    [[nodiscard]] std::size_t waiting_bytes() const { return buffer_ ? buffer_->filled() : 0; }

    /// An idle connection holds no buffer.
    void release_if_empty(BufferPool& pool);
    void release(BufferPool& pool);
    /// For the connection's next reactor; null when nothing is waiting.
    [[nodiscard]] std::unique_ptr<ReadBuffer> take_buffer() { return std::move(buffer_); }

  private:
    [[nodiscard]] bool make_space(BufferPool& pool);

    std::unique_ptr<ReadBuffer> buffer_;
    std::size_t frame_bytes_ = 0;
    // What was given last, and how much is worth receiving at once.
    std::uint32_t room_bytes_ = 0;
    std::uint32_t reach_bytes_ = BufferPool::kSmallestBytes;
};

}  // namespace partita::net
