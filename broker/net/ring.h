#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "protocol/assert.h"

namespace partita::net {

/// A queue in one block of memory. It stays small for a connection with one request at a time, and keeps memory for as many
/// requests as most clients have in flight. A std::deque would allocate a new block for every few elements that pass through it.
template <class T>
class Ring {
  public:
    /// An emptied ring keeps its memory if that holds at most this many elements.
    static constexpr std::size_t kKeptMax = 16;

    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] T& front() { return (*this)[0]; }
    [[nodiscard]] T& operator[](std::size_t index) { return elements_[(first_ + index) & (capacity_ - 1)]; }
    [[nodiscard]] const T& operator[](std::size_t index) const { return elements_[(first_ + index) & (capacity_ - 1)]; }

    /// Appends an element. Moves the others if there is no room.
    T& emplace_back() {
        if (size_ == capacity_) {
            grow();
        }
        return (*this)[size_++];
    }

    void pop_front() {
        PARTITA_ASSERT(size_ > 0, "only what is there is taken out");
        front() = T{};
        first_ = (first_ + 1) & (capacity_ - 1);
        if (--size_ == 0 && capacity_ > kKeptMax) {
            elements_.reset();
            capacity_ = first_ = 0;
        }
    }

    void pop_back() {
        PARTITA_ASSERT(size_ > 0, "only what is there is taken out");
        (*this)[size_ - 1] = T{};
        --size_;
    }

  private:
    static constexpr std::uint32_t kFirstCapacity = 1;
    static constexpr std::uint32_t kGrowth = 4;

    void grow() {
        const std::uint32_t capacity = capacity_ == 0 ? kFirstCapacity : kGrowth * capacity_;
        auto elements = std::make_unique<T[]>(capacity);
        for (std::uint32_t index = 0; index < size_; ++index) {
            elements[index] = std::move((*this)[index]);
        }
        elements_ = std::move(elements);
        capacity_ = capacity;
        first_ = 0;
    }

    std::unique_ptr<T[]> elements_;
    std::uint32_t capacity_ = 0;  ///< 0 or a power of two.
    std::uint32_t first_ = 0;
    std::uint32_t size_ = 0;
};

}  // namespace partita::net
