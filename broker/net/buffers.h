#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace partita::net {

/// Bytes of request frames held by all connections together. Growth of a buffer beyond the smallest
/// size needs room here; a connection that gets none stops reading until others have let go, so that
/// many large requests at once cost waiting and not memory.
class RequestMemory {
  public:
    /// `limit_bytes` of 0 or less stands for no limit (Kafka's queued.max.request.bytes=-1).
    explicit RequestMemory(std::int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

    [[nodiscard]] bool try_take(std::size_t bytes) {
        const auto wanted = static_cast<std::int64_t>(bytes);
        const std::int64_t before = taken_bytes_.fetch_add(wanted, std::memory_order_relaxed);
        if (limit_bytes_ > 0 && before + wanted > limit_bytes_) {
            taken_bytes_.fetch_sub(wanted, std::memory_order_relaxed);
            return false;
        }
        return true;
    }
    /// For the smallest buffers, which everybody gets; counted all the same.
    void take_always(std::size_t bytes) {
        taken_bytes_.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
    }
    void give_back(std::size_t bytes) {
        taken_bytes_.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
    }
    [[nodiscard]] std::int64_t taken_bytes() const { return taken_bytes_.load(std::memory_order_relaxed); }

  private:
    const std::int64_t limit_bytes_;
    std::atomic<std::int64_t> taken_bytes_ = 0;
};

/// A buffer that a connection reads into. `begin..end` is filled and not parsed yet.
struct ReadBuffer {
    std::unique_ptr<std::byte[]> data;
    std::size_t capacity = 0;
    std::size_t begin = 0;
    std::size_t end = 0;

    [[nodiscard]] std::size_t filled() const { return end - begin; }
    [[nodiscard]] std::size_t free_space() const { return capacity - end; }
};

/// One reactor's stock of read buffers, in sizes of powers of two. What served requests lie in is retired, comes back at the
/// end of the turn, and is used again while it is warm: memory touched for the first time costs more than receiving and
/// checking the bytes that go into it. All calls on one thread.
class BufferPool {
  public:
    static constexpr std::size_t kSmallestBytes = 64 * 1024;
    static constexpr std::size_t kPooledBytesMax = 16 * 1024 * 1024;

    explicit BufferPool(RequestMemory& memory) : memory_(memory) {}
    ~BufferPool();
    BufferPool(const BufferPool&) = delete;
    BufferPool& operator=(const BufferPool&) = delete;

    /// A buffer of at least `capacity` bytes; null when the request memory is used up (never for the
    /// smallest size, which keeps everybody able to make progress).
    [[nodiscard]] std::unique_ptr<ReadBuffer> take(std::size_t capacity);
    void give_back(std::unique_ptr<ReadBuffer> buffer);
    /// Gives back a buffer that requests of this turn may still point into.
    void retire(std::unique_ptr<ReadBuffer> buffer);
    /// Their sum since the last `end_turn`.
    [[nodiscard]] std::size_t retired_bytes() const { return retired_bytes_; }
    /// What was retired can be used again. True when there was anything.
    bool end_turn();
    /// Frees what is pooled, except a few small buffers. For quiet times.
    void trim();
    [[nodiscard]] std::size_t pooled_bytes() const { return pooled_bytes_; }

  private:
    RequestMemory& memory_;
    std::vector<std::unique_ptr<ReadBuffer>> pooled_;
    std::size_t pooled_bytes_ = 0;
    std::vector<std::unique_ptr<ReadBuffer>> retired_;
    std::size_t retired_bytes_ = 0;
};

}  // namespace partita::net
