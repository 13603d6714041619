#include "broker/net/buffers.h"

#include <algorithm>
#include <bit>

namespace partita::net {

BufferPool::~BufferPool() {
    end_turn();
    for (const auto& buffer : pooled_) {
        memory_.give_back(buffer->capacity);
    }
}

std::unique_ptr<ReadBuffer> BufferPool::take(std::size_t capacity) {
    const std::size_t wanted = std::bit_ceil(std::max(capacity, kSmallestBytes));
    // Try the newest buffer first: it is most likely in the cache.
    for (auto candidate = pooled_.rbegin(); candidate != pooled_.rend(); ++candidate) {
        if ((*candidate)->capacity == wanted) {
            std::unique_ptr<ReadBuffer> buffer = std::move(*candidate);
            pooled_.erase(std::next(candidate).base());
            pooled_bytes_ -= buffer->capacity;
            return buffer;
        }
    }
    if (!memory_.try_take(wanted)) {
        trim();
        if (!memory_.try_take(wanted)) {
            if (wanted > kSmallestBytes) {
                return nullptr;
            }
            memory_.take_always(wanted);
        }
    }
    auto buffer = std::make_unique<ReadBuffer>();
    buffer->data = std::make_unique_for_overwrite<std::byte[]>(wanted);
    buffer->capacity = wanted;
    return buffer;
}

void BufferPool::give_back(std::unique_ptr<ReadBuffer> buffer) {
    buffer->begin = 0;
    buffer->end = 0;
    if (pooled_bytes_ + buffer->capacity > kPooledBytesMax) {
        memory_.give_back(buffer->capacity);
        return;
    }
    pooled_bytes_ += buffer->capacity;
    pooled_.push_back(std::move(buffer));
}

void BufferPool::retire(std::unique_ptr<ReadBuffer> buffer) {
    retired_bytes_ += buffer->capacity;
    retired_.push_back(std::move(buffer));
}

bool BufferPool::end_turn() {
    const bool had_any = !retired_.empty();
    for (std::unique_ptr<ReadBuffer>& buffer : retired_) {
        give_back(std::move(buffer));
    }
    retired_.clear();
    retired_bytes_ = 0;
    return had_any;
}

void BufferPool::trim() {
    constexpr std::size_t kKept = 2;
    std::vector<std::unique_ptr<ReadBuffer>> kept;
    for (auto& buffer : pooled_) {
        if (buffer->capacity == kSmallestBytes && kept.size() < kKept) {
            kept.push_back(std::move(buffer));
        } else {
            pooled_bytes_ -= buffer->capacity;
            memory_.give_back(buffer->capacity);
        }
    }
    pooled_ = std::move(kept);
}

}  // namespace partita::net
