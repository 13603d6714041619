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
/// and never bytes declared, but for one guess: a client that sent a large frame is expected to send another one.
class FrameReader {
  public:
    static constexpr std::size_t kSizePrefixBytes = 4;
    /// More room is not given for a guess.
    static constexpr std::size_t kExpectedBytesMax = 4 * 1024 * 1024;

    /// `buffer`, which may be null, has what was received before.
    explicit FrameReader(std::unique_ptr<ReadBuffer> buffer = nullptr) : buffer_(std::move(buffer)) {}

    /// Where the next bytes go: up to where the frame ends that is being received or, by its predecessor's size, expected.
    /// Empty while the request memory is used up.
    [[nodiscard]] MutableBytes room(BufferPool& pool);
    /// `bytes` of that room were filled.
    void received(std::size_t bytes) { buffer_->end += bytes; }

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
};

}  // namespace partita::net
