#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "protocol/assert.h"

namespace partita {

/// Makes objects that come and go together, such as the partitions of a topic, in one block of memory instead of thousands of
/// small ones. Each object has its own shared pointer, but all share one reference count: all objects live until none is
/// referenced any more. Not thread-safe. The pointers that it made are as safe as any shared pointer.
template <class T>
class SharedBlock {
  public:
    explicit SharedBlock(std::size_t capacity) : block_(std::make_shared<Block>(capacity)) {}

    /// May be called at most `capacity` times.
    template <class... Arguments>
    [[nodiscard]] std::shared_ptr<T> make(Arguments&&... arguments) {
        PARTITA_ASSERT(block_->count < block_->capacity, "a block holds what it was made for");
        T* const object = std::construct_at(block_->objects + block_->count, std::forward<Arguments>(arguments)...);
        ++block_->count;
        return std::shared_ptr<T>(block_, object);
    }

  private:
    struct Block {
        explicit Block(std::size_t capacity) : objects(std::allocator<T>().allocate(capacity)), capacity(capacity) {}
        ~Block() {
            std::destroy_n(objects, count);
            std::allocator<T>().deallocate(objects, capacity);
        }
        Block(const Block&) = delete;
        Block& operator=(const Block&) = delete;

        T* const objects;
        const std::size_t capacity;
        std::size_t count = 0;
    };

    std::shared_ptr<Block> block_;
};

}  // namespace partita
