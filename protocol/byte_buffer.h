#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "protocol/assert.h"
#include "protocol/cursor.h"
#include "protocol/types.h"

namespace partita {

/// An append-only buffer for outgoing bytes. `clear` keeps the memory, so that in steady state nothing calls malloc. `release`
/// gives it back (an idle connection should). Growth does not zero.
class ByteBuffer {
  public:
    ByteBuffer() = default;
    ~ByteBuffer() { std::free(data_); }
    ByteBuffer(const ByteBuffer&) = delete;
    ByteBuffer& operator=(const ByteBuffer&) = delete;
    ByteBuffer(ByteBuffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    ByteBuffer& operator=(ByteBuffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }

    [[nodiscard]] const std::byte* data() const { return data_; }
    [[nodiscard]] std::byte* data() { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    [[nodiscard]] Bytes bytes() const { return {data_, size_}; }
    [[nodiscard]] Bytes bytes(std::size_t from, std::size_t count) const { return bytes().subspan(from, count); }

    void clear() { size_ = 0; }
    /// Drops all bytes behind the first `size`.
    void truncate(std::size_t size) {
        PARTITA_ASSERT(size <= size_, "a buffer is truncated to at most its size");
        size_ = size;
    }
    /// Gives the memory back.
    void release() { *this = ByteBuffer(); }

    void reserve(std::size_t capacity) {
        if (capacity > capacity_) {
            grow(capacity);
        }
    }

    /// Makes room for `count` more bytes and returns its address; the caller writes them.
    [[nodiscard]] std::byte* extend(std::size_t count) {
        if (count > capacity_ - size_) {
            grow(size_ + count);
        }
        std::byte* place = data_ + size_;
        size_ += count;
        return place;
    }

    void append(Bytes bytes) {
        if (bytes.empty()) {
            return;
        }
        std::memcpy(extend(bytes.size()), bytes.data(), bytes.size());
    }
    template <class Integer>
    void append_big_endian(Integer value) {
        store_big_endian(extend(sizeof value), value);
    }
    /// Overwrites an integer written before, for example a frame length.
    template <class Integer>
    void patch_big_endian(std::size_t position, Integer value) {
        PARTITA_ASSERT(position + sizeof value <= size_, "only written bytes are patched");
        store_big_endian(data_ + position, value);
    }

  private:
    void grow(std::size_t needed) {
        std::size_t capacity = capacity_ < 256 ? 256 : capacity_ * 2;
        if (capacity < needed) {
            capacity = needed;
        }
        auto* data = static_cast<std::byte*>(std::realloc(data_, capacity));
        PARTITA_ASSERT(data != nullptr, "out of memory");
        data_ = data;
        capacity_ = capacity;
    }

    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace partita
