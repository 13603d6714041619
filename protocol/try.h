#pragma once

#include <expected>
#include <utility>

/// The one way to hand an error on to the caller. Each macro evaluates an expression that gives a `std::expected` once, and
/// returns its error, unchanged, from the function around it. That function gives a `std::expected` whose error takes this one;
/// its value may be another. A temporary's error and value are moved, those of a variable are copied.
///
/// Code that changes the error on its way, or cleans up first, says so by hand instead.

/// Goes on when the result has a value, and drops that value.
///
///     PARTITA_TRY(file.sync());
#define PARTITA_TRY(...)                                                         \
    do {                                                                         \
        if (auto&& partita_tried = (__VA_ARGS__); !partita_tried) [[unlikely]] { \
            return std::unexpected(PARTITA_TRY_FORWARD(partita_tried).error());  \
        }                                                                        \
    } while (false)

/// Goes on with the value, which `target` takes: a declaration, or a variable that there is already. A declaration lives as long
/// as one in this place would; one of a reference refers to the result, which lives as long.
///
///     PARTITA_TRY_ASSIGN(const auto size, file.size());
///
/// Two statements, so the body of an `if` needs its braces. A target with a comma (`auto [a, b]`) does not pass.
#define PARTITA_TRY_ASSIGN(target, ...) PARTITA_TRY_KEEP(PARTITA_TRY_NAME(__LINE__), target, __VA_ARGS__)

// Parts of the above.
#define PARTITA_TRY_FORWARD(result) std::forward<decltype(result)>(result)
#define PARTITA_TRY_NAME(line) PARTITA_TRY_JOIN(partita_tried_, line)
#define PARTITA_TRY_JOIN(first, second) first##second
#define PARTITA_TRY_KEEP(result, target, ...)                        \
    auto&& result = (__VA_ARGS__);                                   \
    if (!result) [[unlikely]] {                                      \
        return std::unexpected(PARTITA_TRY_FORWARD(result).error()); \
    }                                                                \
    target = *PARTITA_TRY_FORWARD(result)
