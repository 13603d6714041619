#pragma once

#include <cstddef>

namespace partita {

/// Fills memory with unpredictable bytes from the kernel. Never fails: waits, at most once after the machine was switched
/// on, until there are any. Of the C++ library's own source a static program would need a newer C library.
void fill_with_random_bytes(void* memory, std::size_t size);

/// An object of plain bytes, all of them unpredictable.
template <class T>
[[nodiscard]] T random_value() {
    static_assert(__is_trivially_copyable(T));
    T value;
    fill_with_random_bytes(&value, sizeof value);
    return value;
}

}  // namespace partita
