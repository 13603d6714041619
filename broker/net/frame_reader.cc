#include "broker/net/frame_reader.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "protocol/big_endian.h"

namespace partita::net {
namespace {

bool looks_like_http(Bytes bytes) {
    const std::string_view text = as_text(bytes);
    return text == "GET " || text == "POST" || text == "HEAD" || text == "PUT " || text == "OPTI" || text == "DELE" ||
           text == "PRI ";
}

bool looks_like_tls(Bytes bytes) {
    // A handshake record of TLS 1.0 to 1.3.
    return bytes[0] == std::byte{0x16} && bytes[1] == std::byte{0x03};
}

std::string reason_to_refuse(Bytes prefix, std::int32_t size, std::int32_t frame_bytes_max, std::string_view limit_name) {
    if (looks_like_http(prefix)) {
        return "an HTTP request came to the Kafka port";
    }
    if (looks_like_tls(prefix)) {
        return "a TLS handshake came to a PLAINTEXT listener";
    }
    return "frame of " + std::to_string(size) + " bytes is outside of 0.." + std::to_string(frame_bytes_max) + " (" +
           std::string(limit_name) + ")";
}

}  // namespace

MutableBytes FrameReader::room(BufferPool& pool) {
    if (!make_space(pool)) {
        return {};
    }
    // What follows would only have to be moved into another buffer.
    const std::size_t expected = std::max<std::size_t>(reach_bytes_, frame_bytes_);
    const std::size_t filled = buffer_->filled();
    const std::size_t wanted = std::min(buffer_->free_space(), expected > filled ? expected - filled : expected);
    room_bytes_ = static_cast<std::uint32_t>(wanted);
    return {buffer_->data.get() + buffer_->end, wanted};
}

void FrameReader::received(std::size_t bytes) {
    buffer_->end += bytes;
    if (bytes == room_bytes_) {
        reach_bytes_ = static_cast<std::uint32_t>(std::clamp(2 * bytes, BufferPool::kSmallestBytes, kReachBytesMax));
    } else if (2 * bytes < room_bytes_) {
        reach_bytes_ = std::max<std::uint32_t>(reach_bytes_ / 2, BufferPool::kSmallestBytes);
    }
}

bool FrameReader::make_space(BufferPool& pool) {
    if (!buffer_) {
        // They are received where they can be used in place.
        buffer_ = pool.take(std::max<std::size_t>(reach_bytes_, std::min(frame_bytes_, kExpectedBytesMax)));
        if (!buffer_) {
            buffer_ = pool.take(0);
        }
        return true;
    }
    // Its size follows what was received, not what was declared.
    const std::size_t received = buffer_->filled();
    const std::size_t needed = std::min(frame_bytes_, std::max(BufferPool::kSmallestBytes, 4 * received));
    const std::size_t wanted = std::max<std::size_t>(reach_bytes_, needed);
    if (buffer_->free_space() > 0 && buffer_->begin + wanted <= buffer_->capacity) {
        return true;
    }
    // Served requests of this turn may still point into the buffer, so what is left is not moved within but continued in another
    // one.
    std::unique_ptr<ReadBuffer> larger = pool.take(wanted);
    if (!larger && needed < wanted) {
        larger = pool.take(needed);
    }
    if (!larger || larger->capacity <= received) {
        if (larger) {
            pool.give_back(std::move(larger));
        }
        return buffer_->free_space() > 0;
    }
    std::memcpy(larger->data.get(), buffer_->data.get() + buffer_->begin, received);
    larger->end = received;
    pool.retire(std::move(buffer_));
    buffer_ = std::move(larger);
    return true;
}

std::expected<std::optional<MutableBytes>, std::string> FrameReader::next(std::int32_t frame_bytes_max,
                                                                          std::string_view limit_name) {
    if (waiting_bytes() < kSizePrefixBytes) {
        return std::nullopt;  // The next one is expected to be as large as the last one was.
    }
    std::byte* const start = buffer_->data.get() + buffer_->begin;
    const auto size = load_big_endian<std::int32_t>(start);
    if (size < 0 || size > frame_bytes_max) {
        return std::unexpected(reason_to_refuse({start, kSizePrefixBytes}, size, frame_bytes_max, limit_name));
    }
    frame_bytes_ = kSizePrefixBytes + static_cast<std::size_t>(size);
    if (buffer_->filled() < frame_bytes_) {
        return std::nullopt;
    }
    buffer_->begin += frame_bytes_;
    return MutableBytes(start + kSizePrefixBytes, static_cast<std::size_t>(size));
}

void FrameReader::release_if_empty(BufferPool& pool) {
    if (buffer_ && buffer_->filled() == 0) {
        release(pool);
    }
}

void FrameReader::release(BufferPool& pool) {
    if (buffer_) {
        pool.retire(std::move(buffer_));
    }
}

}  // namespace partita::net
