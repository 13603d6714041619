#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>
#include <type_traits>

namespace partita {

/// A bump allocator for one request and its reply. `reset` frees all objects at once and keeps the chunks, so that in steady
/// state nothing calls malloc. Only trivially destructible types go in. Pointers stay valid until `reset` or destruction. Not
/// thread-safe.
///
/// The decoder builds objects from foreign bytes with `allocate`, which keeps the limit and returns nullptr above it. Our own
/// code builds replies with `allocate_unlimited`; other rules bound their size.
class Arena {
  public:
    static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
    /// The first chunk; later ones double up to `kLargestChunk` (one larger object has its own).
    static constexpr std::size_t kSmallestChunk = 4 * 1024;
    static constexpr std::size_t kLargestChunk = 1024 * 1024;
    /// Memory that `reset` keeps for the next request; the rest goes back to the system.
    static constexpr std::size_t kRetainedBytes = 1024 * 1024;

    Arena() = default;
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    Arena(Arena&& other) noexcept;
    Arena& operator=(Arena&& other) noexcept;

    /// Frees all objects. `limit_bytes` bounds what `allocate` gives out until the next reset.
    void reset(std::size_t limit_bytes = kNoLimit);

    /// Uninitialised memory, or nullptr if it would exceed the limit.
    [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment) {
        if (size > limit_ - limited_) {
            return nullptr;
        }
        limited_ += size;
        return allocate_unlimited(size, alignment);
    }

    /// Uninitialised memory; never nullptr.
    [[nodiscard]] void* allocate_unlimited(std::size_t size, std::size_t alignment) {
        const std::uintptr_t start = (position_ + alignment - 1) & ~(std::uintptr_t{alignment} - 1);
        if (position_ == 0 || start > end_ || size > end_ - start) {
            return allocate_in_new_chunk(size, alignment);
        }
        position_ = start + size;
        return reinterpret_cast<void*>(start);
    }

    /// A default-constructed object.
    template <class T>
    [[nodiscard]] T* create() {
        static_assert(std::is_trivially_destructible_v<T>);
        return new (allocate_unlimited(sizeof(T), alignof(T))) T();
    }

    /// A copy of `text` that lives as long as the arena's content.
    [[nodiscard]] std::string_view copy(std::string_view text) {
        if (text.empty()) {
            return {};
        }
        auto* memory = static_cast<char*>(allocate_unlimited(text.size(), 1));
        std::memcpy(memory, text.data(), text.size());
        return {memory, text.size()};
    }

    /// Bytes given out through `allocate` since the last reset.
    [[nodiscard]] std::size_t limited_bytes() const { return limited_; }
    /// Memory that the arena holds from the system now.
    [[nodiscard]] std::size_t reserved_bytes() const { return reserved_; }

  private:
    struct Chunk;

    void* allocate_in_new_chunk(std::size_t size, std::size_t alignment);
    void use(Chunk* chunk);
    void free_all();

    Chunk* chunks_ = nullptr;  ///< All chunks in use, newest first.
    Chunk* spare_ = nullptr;   ///< Chunks kept by reset, largest first.
    std::uintptr_t position_ = 0;
    std::uintptr_t end_ = 0;
    std::size_t limit_ = kNoLimit;
    std::size_t limited_ = 0;
    std::size_t reserved_ = 0;
};

}  // namespace partita
