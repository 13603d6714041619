#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "protocol/mutex.h"
#include "protocol/types.h"

namespace partita::log {

enum class Level : std::uint8_t { debug, info, warning, error, off };

/// "debug", "info", "warning" (or "warn"), "error", "off".
[[nodiscard]] std::optional<Level> parse_level(std::string_view name);

/// One `key=value` of a line. Values with white space, quotes, "=" or control characters are quoted and escaped, so that text
/// from a client can forge neither a line nor a field.
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

/// Opens the log: one line per event to standard error, for events of `level` and above. Call it once, before threads start. A
/// line is `2026-01-31T12:34:56.789Z WARN area message key=value key=value`.
void open(Level level);

/// True if the log writes lines of this level for areas without their own level.
[[nodiscard]] bool is_on(Level level);
/// True if the log writes lines of this level for the area.
[[nodiscard]] bool is_on(Level level, std::string_view area);

/// The areas that can have their own level. All other areas have the log's.
inline constexpr std::string_view kAreas[] = {"broker", "catalog", "config",   "expansion", "groups",
                                              "http",   "net",     "recovery", "storage"};

/// Changes the log's level. Any thread may call this while others write.
void set_level(Level level);
[[nodiscard]] Level level();
/// Sets the level of one of `kAreas`; without a value the area uses the log's level again. Any thread may call this.
void set_area_level(std::string_view area, std::optional<Level> level);

/// Writes one event. `area` is the reporting room ("storage", "net"), `message` is plain words without values. Any thread may
/// call this; lines are never mixed.
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

/// An event as `write` got it.
struct Event {
    Level level = Level::info;
    std::string area;
    std::string message;
    std::vector<std::pair<std::string, std::string>> fields;
};

/// Receives the events of `info` and above while it lives, whether the log writes them or not.
class Listener {
  public:
    /// `receive` gets one event at a time, on the thread that wrote it. That thread may hold any lock, so `receive` takes none.
    explicit Listener(std::function<void(Event event)> receive);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    void receive(const Event& event) { receive_(event); }

  private:
    const std::function<void(Event)> receive_;
};

/// A line without its time, as `write` would print it.
[[nodiscard]] std::string format_event(Level level, std::string_view area, std::string_view message,
                                       std::initializer_list<Field> fields);

/// Admits at most one event per second and reason, for events that strangers can cause at will (garbage on the port, oversized
/// frames). Thread-safe. It remembers `kMaxReasons` reasons; all further ones share one more.
class RateLimiter {
  public:
    static constexpr std::size_t kMaxReasons = 256;
    static constexpr std::int64_t kInterval_ms = 1000;

    /// Empty if the caller must not write the event. Otherwise the caller writes it, with this number of suppressed events of the
    /// same reason since the last line.
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
