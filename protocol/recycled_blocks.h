#pragma once

#include <cstddef>
#include <new>

namespace partita {

/// Blocks of one size that each thread keeps for its next objects of that size, so that objects made for every request need no
/// allocation. A thread may give back a block that another thread took, and then keeps it. Each thread keeps at most `kKeptMax`
/// blocks until it ends.
template <std::size_t kBytes, std::size_t kKeptMax = 64>
class RecycledBlocks {
    static_assert(kBytes >= sizeof(void*));

  public:
    [[nodiscard]] static void* take() {
        Kept& kept = kept_;
        if (kept.first == nullptr) {
            return ::operator new(kBytes);
        }
        Free* const block = kept.first;
        kept.first = block->next;
        --kept.count;
        return block;
    }

    static void give_back(void* block) {
        Kept& kept = kept_;
        if (kept.count >= kKeptMax) {
            return ::operator delete(block);
        }
        kept.first = new (block) Free{kept.first};
        ++kept.count;
    }

  private:
    struct Free {
        Free* next;
    };
    struct Kept {
        Free* first = nullptr;
        std::size_t count = 0;
        ~Kept() {
            // Objects that die later in the thread's end give back their blocks, which are then freed at once.
            count = kKeptMax;
            while (first != nullptr) {
                Free* const block = first;
                first = block->next;
                ::operator delete(block);
            }
        }
    };

    static thread_local Kept kept_;
};

template <std::size_t kBytes, std::size_t kKeptMax>
thread_local typename RecycledBlocks<kBytes, kKeptMax>::Kept RecycledBlocks<kBytes, kKeptMax>::kept_;

/// An allocator for std::allocate_shared and the like. Single objects come from recycled blocks; a thread keeps `kKeptMax` of
/// them.
template <class T, std::size_t kKeptMax = 64>
struct RecyclingAllocator {
    using value_type = T;
    // The library derives this by itself only if all parameters are types.
    template <class Other>
    struct rebind {
        using other = RecyclingAllocator<Other, kKeptMax>;
    };

    RecyclingAllocator() = default;
    template <class Other>
    RecyclingAllocator(const RecyclingAllocator<Other, kKeptMax>&) {}

    [[nodiscard]] T* allocate(std::size_t count) {
        static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
        return static_cast<T*>(count == 1 ? RecycledBlocks<sizeof(T), kKeptMax>::take() : ::operator new(count * sizeof(T)));
    }
    void deallocate(T* memory, std::size_t count) {
        if (count == 1) {
            RecycledBlocks<sizeof(T), kKeptMax>::give_back(memory);
        } else {
            ::operator delete(memory);
        }
    }
    template <class Other>
    friend bool operator==(const RecyclingAllocator&, const RecyclingAllocator<Other, kKeptMax>&) {
        return true;
    }
};

}  // namespace partita
