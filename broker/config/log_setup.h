#pragma once

#include <cstdint>
#include <expected>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

#include "protocol/mutex.h"
#include "protocol/types.h"

namespace partita::log {

enum class Level : std::uint8_t { debug, info, warning, error, off };

/// "debug", "info", "warning" (or "warn"), "error", "off".
[[nodiscard]] std::optional<Level> parse_level(std::string_view name);

/// One `key=value` of a line. Values with white space, quotes, "=" or control characters are quoted and
/// escaped, so that what a client sends can neither forge a line nor a field.
struct Field {
    std::string_view key;
    std::string value;

    Field(std::string_view name, std::string_view text) : key(name), value(text) {}
    Field(std::string_view name, const char* text) : key(name), value(text) {}
    Field(std::string_view name, const std::string& text) : key(name), value(text) {}
    template <class Number>
        requires std::is_arithmetic_v<Number>
    Field(std::string_view name, Number number) : key(name), value(fmt::format("{}", number)) {}
};

/// Opens the log: one line per event to standard error, from `level` on. Call once, before threads start.
/// A line is `2026-01-31T12:34:56.789Z WARN area message key=value key=value`.
void open(Level level);

/// Whether anything of this level is written.
[[nodiscard]] bool is_on(Level level);
/// The same for one area, which may have a level of its own.
[[nodiscard]] bool is_on(Level level, std::string_view area);

/// Areas that can have a level of their own; other areas follow the log's.
inline constexpr std::string_view kAreas[] = {"broker", "catalog", "config",   "expansion", "groups",
                                              "http",   "net",     "recovery", "storage"};

/// Changes the level of a running log, from any thread.
void set_level(Level level);
[[nodiscard]] Level level();
/// The level of one of `kAreas`; nothing makes it follow the log's again.
void set_area_level(std::string_view area, std::optional<Level> level);

/// Writes one event. `area` is the room it comes from ("storage", "net"), `message` plain words without values.
/// Safe from any thread; lines are never mixed.
void write(Level level, std::string_view area, std::string_view message, std::initializer_list<Field> fields = {});

inline void debug(std::string_view area, std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::debug, area, message, fields);
}
inline void info(std::string_view area, std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::info, area, message, fields);
}
inline void warning(std::string_view area, std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::warning, area, message, fields);
}
inline void error(std::string_view area, std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::error, area, message, fields);
}

/// A line without its time, as `write` would print it.
[[nodiscard]] std::string format_event(Level level, std::string_view area, std::string_view message,
                                       std::initializer_list<Field> fields);

/// Lets at most one event per second and reason through, for what strangers can cause at will (garbage on
/// the port, oversized frames). Thread-safe. Holds at most `kMaxReasons` reasons; more than that share one.
class RateLimiter {
public:
    static constexpr std::size_t kMaxReasons = 256;
    static constexpr std::int64_t kInterval_ms = 1000;

    /// Null: stay silent. Otherwise write, and say that so many events of this reason were left out since the
    /// last line.
    [[nodiscard]] std::optional<std::uint64_t> admit(std::string_view reason, Instant now);

private:
    struct State {
        Instant last;
        std::uint64_t suppressed = 0;
    };

    Mutex mutex_{LockRank::log_lines};
    std::map<std::string, State, std::less<>> reasons_ GUARDED_BY(mutex_);
};

}  // namespace partita::log
