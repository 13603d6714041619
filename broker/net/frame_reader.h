#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "broker/net/buffers.h"
#include "protocol/types.h"

namespace partita::net {

/// Cuts the received bytes of a connection into frames: four bytes with a size, then as many bytes as the size says.
///
/// The connection asks for `room`, receives into it, calls `received`, and takes frames with `next` until there is none. A frame
/// stays where it was received, and its bytes live until the end of the turn in which it was taken. Memory follows the bytes
/// received and never the bytes declared, with two exceptions. A client that sent a large frame is expected to send another one
/// like it. A client that filled its room gets twice as much the next time, up to `kReachBytesMax`; when it uses less than half
/// of its room, it gets half as much.
class FrameReader {
  public:
    static constexpr std::size_t kSizePrefixBytes = 4;
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

    /// Takes the next whole frame without its size prefix; empty while there is none. The error is the reason, for the log, why
    /// the caller has to close the connection: the size is negative or above `frame_bytes_max`, or these are the first bytes of
    /// HTTP or TLS.
    /// `limit_name` is the config that the limit comes from.
    [[nodiscard]] std::expected<std::optional<MutableBytes>, std::string> next(
        std::int32_t frame_bytes_max, std::string_view limit_name = "socket.request.max.bytes");

    /// Size of the frame found last, with its prefix, whether it is whole or not; 0 before the first one. The next frame is
    /// expected to be as large.
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

}  // namespace partita::net
