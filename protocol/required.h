#pragma once

#include <utility>

namespace partita {

/// A member that has no value until somebody says one. A struct of such members cannot be made without each of them, so the
/// compiler finds who forgets one. Otherwise it is used as its value.
///
/// For settings whose defaults stand elsewhere: what acts on a setting says its name and type, and nothing of its default.
template <class T>
struct Required {
    T value;

    // From and to its value without a word, which is what it is for.
    constexpr Required(T given) : value(std::move(given)) {}
    constexpr operator const T&() const { return value; }
};

}  // namespace partita
