#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace partita {

template <class Signature>
class FunctionRef;

/// Refers to something callable that lives elsewhere: for a parameter that is called before the function returns, and not kept.
/// Two words, nothing is allocated and nothing is copied. A function that keeps what it is given takes a `std::function`.
///
///     void for_each(FunctionRef<void(const Topic&)> visit) const;
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
  public:
    /// `callable` outlives this reference, as an argument does until the call returns.
    template <class Callable>
        requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef> &&
                 std::is_object_v<std::remove_reference_t<Callable>> &&
                 std::is_invocable_r_v<Result, std::remove_reference_t<Callable>&, Arguments...>)
    FunctionRef(Callable&& callable)  // From a lambda without a word, which is what it is for.
        : callable_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
          call_([](void* target, Arguments... arguments) -> Result {
              return static_cast<Result>(
                  (*static_cast<std::remove_reference_t<Callable>*>(target))(std::forward<Arguments>(arguments)...));
          }) {}

    Result operator()(Arguments... arguments) const { return call_(callable_, std::forward<Arguments>(arguments)...); }

  private:
    void* callable_;
    Result (*call_)(void*, Arguments...);
};

}  // namespace partita
