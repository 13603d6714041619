#pragma once

#include <cstddef>
#include <cstdint>

namespace partita {

/// Fills memory with unpredictable bytes from the kernel. Never fails; it may wait for the first such bytes after the machine was
/// switched on. The C++ library's own source would need a newer C library in a static program.
void fill_with_random_bytes(void* memory, std::size_t size);

/// Replaces the random bytes of this thread by bytes that follow from `seed`, as long as the object lives: for simulations. These
/// bytes are predictable. One object at a time on a thread.
class SeededRandomBytes {
  public:
    explicit SeededRandomBytes(std::uint64_t seed);
    ~SeededRandomBytes();
    SeededRandomBytes(const SeededRandomBytes&) = delete;
    SeededRandomBytes& operator=(const SeededRandomBytes&) = delete;
};

/// An object of plain bytes, all of them unpredictable.
template <class T>
[[nodiscard]] T random_value() {
    static_assert(__is_trivially_copyable(T));
    T value;
    fill_with_random_bytes(&value, sizeof value);
    return value;
}

}  // namespace partita
