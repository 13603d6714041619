#pragma once

#include <utility>

namespace partita {

/// A member without a default value. A struct of such members cannot be made without each of them, so the compiler reports a
/// forgotten one. Otherwise it behaves like its value.
///
/// For settings whose defaults stand elsewhere: code that acts on a setting declares its name and type, and does not know its
/// default.
template <class T>
struct Required {
    T value;

    // Implicit conversions from and to the value, so that the member can be used like it.
    constexpr Required(T given) : value(std::move(given)) {}
    constexpr operator const T&() const { return value; }
};

}  // namespace partita
