#pragma once

#include <expected>
#include <utility>

/// The one way to pass an error on to the caller. Each macro evaluates an expression of type `std::expected` once, and returns
/// its error, unchanged, from the function around it. That function returns a `std::expected` whose error type accepts this one;
/// its value type may differ. Errors and values of temporaries are moved, those of variables are copied.
///
/// Code that changes the error on its way, or cleans up first, does so by hand instead.

/// Continues if the result has a value, and drops that value.
///
///     PARTITA_TRY(file.sync());
#define PARTITA_TRY(...)                                                         \
    do {                                                                         \
        if (auto&& partita_tried = (__VA_ARGS__); !partita_tried) [[unlikely]] { \
            return std::unexpected(PARTITA_TRY_FORWARD(partita_tried).error());  \
        }                                                                        \
    } while (false)

/// Continues with the value, which `target` takes: a declaration, or an existing variable. A declaration lives as long as any
/// other in this place. A declared reference refers to the result, which lives as long.
///
///     PARTITA_TRY_ASSIGN(const auto size, file.size());
///
/// Two statements, so the body of an `if` needs its braces. A target with a comma (`auto [a, b]`) does not pass.
#define PARTITA_TRY_ASSIGN(target, ...) PARTITA_TRY_KEEP(PARTITA_TRY_NAME(__LINE__), target, __VA_ARGS__)

// Parts of the macros above.
#define PARTITA_TRY_FORWARD(result) std::forward<decltype(result)>(result)
#define PARTITA_TRY_NAME(line) PARTITA_TRY_JOIN(partita_tried_, line)
#define PARTITA_TRY_JOIN(first, second) first##second
#define PARTITA_TRY_KEEP(result, target, ...)                        \
    auto&& result = (__VA_ARGS__);                                   \
    if (!result) [[unlikely]] {                                      \
        return std::unexpected(PARTITA_TRY_FORWARD(result).error()); \
    }                                                                \
    target = *PARTITA_TRY_FORWARD(result)
