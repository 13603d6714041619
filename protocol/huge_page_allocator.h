#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace partita {

/// Allocates memory for large tables that are read at random places. With ordinary pages every read would also wait for a page
/// table. On a system without huge pages it returns ordinary ones, and nothing else changes. Small blocks come from the heap.
template <class Value>
struct HugePageAllocator {
    using value_type = Value;
    static constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

    HugePageAllocator() = default;
    template <class Other>
    HugePageAllocator(const HugePageAllocator<Other>&) {}

    [[nodiscard]] Value* allocate(std::size_t count) {
        const std::size_t bytes = count * sizeof(Value);
        if (bytes < kHugePageBytes) {
            return static_cast<Value*>(::operator new(bytes, std::align_val_t(alignof(Value))));
        }
        const std::size_t whole = (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
        void* const memory = std::aligned_alloc(kHugePageBytes, whole);
        if (memory == nullptr) {
            throw std::bad_alloc();
        }
        // This is a hint: its result changes nothing.
        (void)::madvise(memory, whole, MADV_HUGEPAGE);
        return static_cast<Value*>(memory);
    }
    void deallocate(Value* memory, std::size_t count) {
        if (count * sizeof(Value) < kHugePageBytes) {
            ::operator delete(memory, std::align_val_t(alignof(Value)));
        } else {
            std::free(memory);
        }
    }
    template <class Other>
    friend bool operator==(const HugePageAllocator&, const HugePageAllocator<Other>&) {
        return true;
    }
};

}  // namespace partita
