#pragma once

#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace partita {

/// A function object of any type, stored in place: keeping it allocates nothing, and it must fit into `Bytes`. It is movable, not
/// copyable; a moved-from object must not be called.
template <class Signature, std::size_t Bytes>
class InlineFunction;

template <class Result, class... Arguments, std::size_t Bytes>
class InlineFunction<Result(Arguments...), Bytes> {
  public:
    template <class Function>
        requires(!std::same_as<std::remove_cvref_t<Function>, InlineFunction> &&
                 std::is_invocable_r_v<Result, std::decay_t<Function>&, Arguments...>)
    InlineFunction(Function&& function) {  // NOLINT(google-explicit-constructor)
        using Held = std::decay_t<Function>;
        static_assert(sizeof(Held) <= Bytes && alignof(Held) <= alignof(std::max_align_t), "the function does not fit");
        static_assert(std::is_nothrow_move_constructible_v<Held>);
        new (storage_) Held(std::forward<Function>(function));
        call_ = [](void* held, Arguments... arguments) -> Result {
            return (*static_cast<Held*>(held))(std::forward<Arguments>(arguments)...);
        };
        leave_ = [](void* held, void* place) {
            Held* const from = static_cast<Held*>(held);
            if (place != nullptr) {
                new (place) Held(std::move(*from));
            }
            from->~Held();
        };
    }
    InlineFunction(InlineFunction&& other) noexcept { take(other); }
    InlineFunction& operator=(InlineFunction&& other) noexcept {
        if (this != &other) {
            clear();
            take(other);
        }
        return *this;
    }
    ~InlineFunction() { clear(); }

    Result operator()(Arguments... arguments) { return call_(storage_, std::forward<Arguments>(arguments)...); }

  private:
    void take(InlineFunction& other) {
        if (other.leave_ != nullptr) {
            other.leave_(other.storage_, storage_);
        }
        call_ = std::exchange(other.call_, nullptr);
        leave_ = std::exchange(other.leave_, nullptr);
    }
    void clear() {
        if (leave_ != nullptr) {
            leave_(storage_, nullptr);
        }
    }

    alignas(std::max_align_t) std::byte storage_[Bytes];
    Result (*call_)(void* held, Arguments... arguments) = nullptr;
    /// Ends the object, and moves it to `place` before, unless that is null.
    void (*leave_)(void* held, void* place) = nullptr;
};

}  // namespace partita
