#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "protocol/thread_annotations.h"

namespace partita {

template <class Signature>
class FunctionRef;

/// A reference to a callable object, for a parameter that the function calls before it returns and does not keep. Two words;
/// nothing is allocated or copied. A function that keeps a callable takes a `std::function`.
///
///     void for_each(FunctionRef<void(const Topic&)> visit) const;
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
  public:
    /// `callable` must outlive this reference, as an argument does until the call returns.
    template <class Callable>
        requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef> &&
                 std::is_object_v<std::remove_reference_t<Callable>> &&
                 std::is_invocable_r_v<Result, std::remove_reference_t<Callable>&, Arguments...>)
    FunctionRef(Callable&& callable)  // Implicit, so that callers can pass a lambda.
        : callable_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
          call_(&call_object<std::remove_reference_t<Callable>>) {}

    Result operator()(Arguments... arguments) const { return call_(callable_, std::forward<Arguments>(arguments)...); }

  private:
    /// A callable that requires a lock is called while the function that passed it still holds the lock. Clang cannot follow that
    /// through the pointer.
    template <class Object>
    static Result call_object(void* target, Arguments... arguments) NO_THREAD_SAFETY_ANALYSIS {
        return static_cast<Result>((*static_cast<Object*>(target))(std::forward<Arguments>(arguments)...));
    }

    void* callable_;
    Result (*call_)(void*, Arguments...);
};

}  // namespace partita
