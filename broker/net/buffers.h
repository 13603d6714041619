#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace partita::net {

/// Counts the bytes of all read buffers of all reactors against one limit. A buffer above the smallest size is allocated only
/// while there is room below the limit. A connection without such a buffer stops reading until others return memory. Many large
/// requests at once thus cost time, not memory. Thread-safe.
class RequestMemory {
  public:
    /// A `limit_bytes` of 0 or less means no limit.
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
    /// Takes the bytes even beyond the limit: for buffers of the smallest size, which every connection gets.
    void take_always(std::size_t bytes) { taken_bytes_.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed); }
    void give_back(std::size_t bytes) { taken_bytes_.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed); }
    [[nodiscard]] std::int64_t taken_bytes() const { return taken_bytes_.load(std::memory_order_relaxed); }

  private:
    const std::int64_t limit_bytes_;
    std::atomic<std::int64_t> taken_bytes_ = 0;
};

/// A buffer that a connection reads into. The bytes from `begin` to `end` are received but not parsed yet.
struct ReadBuffer {
    std::unique_ptr<std::byte[]> data;
    std::size_t capacity = 0;
    std::size_t begin = 0;
    std::size_t end = 0;

    [[nodiscard]] std::size_t filled() const { return end - begin; }
    [[nodiscard]] std::size_t free_space() const { return capacity - end; }
};

/// One reactor's stock of read buffers, with sizes that are powers of two. A connection retires a buffer that holds served
/// requests. It returns to the pool at the end of the turn and is reused while it is still in the processor's caches. Touching
/// memory for the first time costs more than receiving and checking the bytes that go into it. Only the reactor's thread calls
/// it.
class BufferPool {
  public:
    static constexpr std::size_t kSmallestBytes = 64 * 1024;
    static constexpr std::size_t kPooledBytesMax = 16 * 1024 * 1024;

    explicit BufferPool(RequestMemory& memory) : memory_(memory) {}
    ~BufferPool();
    BufferPool(const BufferPool&) = delete;
    BufferPool& operator=(const BufferPool&) = delete;

    /// A buffer of at least `capacity` bytes; null if the request memory is used up. A buffer of the smallest size is always
    /// available, so that every connection can make progress.
    [[nodiscard]] std::unique_ptr<ReadBuffer> take(std::size_t capacity);
    void give_back(std::unique_ptr<ReadBuffer> buffer);
    /// Gives back, at the end of the turn, a buffer that requests of this turn may still point into.
    void retire(std::unique_ptr<ReadBuffer> buffer);
    /// The total capacity of the buffers retired since the last `end_turn`.
    [[nodiscard]] std::size_t retired_bytes() const { return retired_bytes_; }
    /// Puts the retired buffers back into the pool. The NetReactor calls this at the end of a turn, when no request refers to
    /// them any more. Returns true if any buffer was retired.
    bool end_turn();
    /// Frees the pooled buffers except a few small ones. The NetReactor calls this after a quiet time; `take` calls it if the
    /// request memory is used up.
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
