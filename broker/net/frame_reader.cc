#include "broker/net/frame_reader.h"

#include <algorithm>
#include <cstring>

namespace partita::net {
MutableBytes FrameReader::room(BufferPool& pool) {
    if (!make_space(pool)) {
        return {};
    }
    // Bytes after the expected frame would only have to be moved into another buffer.
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
        // Take a buffer in which the expected frame can be used in place.
        buffer_ = pool.take(std::max<std::size_t>(reach_bytes_, std::min(frame_bytes_, kExpectedBytesMax)));
        if (!buffer_) {
            buffer_ = pool.take(0);
        }
        return true;
    }
    // The size follows the received bytes, not the declared ones.
    const std::size_t received = buffer_->filled();
    const std::size_t needed = std::min(frame_bytes_, std::max(BufferPool::kSmallestBytes, 4 * received));
    const std::size_t wanted = std::max<std::size_t>(reach_bytes_, needed);
    if (buffer_->free_space() > 0 && buffer_->begin + wanted <= buffer_->capacity) {
        return true;
    }
    // Served requests of this turn may still point into the buffer. So its rest is not moved within it, but copied to another
    // buffer.
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
