#include "broker/config/log_setup.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "protocol/assert.h"
#include "protocol/mutex.h"

namespace partita::log {

namespace {

spdlog::level::level_enum spdlog_level(Level level) {
    switch (level) {
        case Level::debug:
            return spdlog::level::debug;
        case Level::info:
            return spdlog::level::info;
        case Level::warning:
            return spdlog::level::warn;
        case Level::error:
            return spdlog::level::err;
        case Level::off:
            return spdlog::level::off;
    }
    return spdlog::level::off;
}

std::string_view level_name(Level level) {
    switch (level) {
        case Level::debug:
            return "DEBUG";
        case Level::info:
            return "INFO";
        case Level::warning:
            return "WARN";
        case Level::error:
            return "ERROR";
        case Level::off:
            return "OFF";
    }
    return "OFF";
}

std::shared_ptr<spdlog::logger>& logger() {
    // Never destroyed: a thread may still write while the program ends and destroys its statics.
    static auto* instance = new std::shared_ptr<spdlog::logger>;
    return *instance;
}

constexpr std::uint8_t kFollowsTheLog = 0xFF;

/// Levels change while threads write.
struct Levels {
    std::atomic<Level> log = Level::off;
    std::array<std::atomic<std::uint8_t>, std::size(kAreas)> areas;

    Levels() {
        for (auto& area : areas) {
            area.store(kFollowsTheLog, std::memory_order_relaxed);
        }
    }
    /// Null for an area without its own level.
    std::atomic<std::uint8_t>* find(std::string_view area) {
        const auto found = std::ranges::find(kAreas, area);
        return found == std::end(kAreas) ? nullptr : &areas[static_cast<std::size_t>(found - std::begin(kAreas))];
    }
};

Levels& levels() {
    static Levels instance;
    return instance;
}

struct Hearing {
    std::atomic<bool> has_listeners = false;
    Mutex mutex{LockRank::log_listener};
    std::vector<Listener*> listeners GUARDED_BY(mutex);
};

Hearing& hearing() {
    // Never destroyed, like the logger.
    static auto* instance = new Hearing;
    return *instance;
}

void tell_listeners(Level level, std::string_view area, std::string_view message, std::initializer_list<Field> fields) {
    Event event{.level = level, .area = std::string(area), .message = std::string(message), .fields = {}};
    for (const Field& field : fields) {
        event.fields.emplace_back(field.key, field.value);
    }
    const MutexLock lock(hearing().mutex);
    for (Listener* listener : hearing().listeners) {
        listener->receive(event);
    }
}

void append_value(std::string& line, std::string_view value) {
    const auto is_plain = [](char character) {
        const auto byte = static_cast<unsigned char>(character);
        return byte > ' ' && byte != 0x7F && character != '"' && character != '=' && character != '\\';
    };
    if (!value.empty() && std::ranges::all_of(value, is_plain)) {
        line += value;
        return;
    }
    line += '"';
    for (const char character : value) {
        const auto byte = static_cast<unsigned char>(character);
        if (character == '"' || character == '\\') {
            line += '\\';
            line += character;
        } else if (byte < ' ' || byte == 0x7F) {
            line += fmt::format("\\x{:02x}", byte);
        } else {
            line += character;
        }
    }
    line += '"';
}

}  // namespace

std::optional<Level> parse_level(std::string_view name) {
    for (const auto& [text, level] : std::initializer_list<std::pair<std::string_view, Level>>{{"debug", Level::debug},
                                                                                               {"info", Level::info},
                                                                                               {"warning", Level::warning},
                                                                                               {"warn", Level::warning},
                                                                                               {"error", Level::error},
                                                                                               {"off", Level::off}}) {
        if (text == name) {
            return level;
        }
    }
    return std::nullopt;
}

void open(Level level) {
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    auto opened = std::make_shared<spdlog::logger>("partita", std::move(sink));
    opened->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %v", spdlog::pattern_time_type::utc);
    // spdlog passes everything; `write` filters by area.
    opened->set_level(spdlog::level::debug);
    opened->flush_on(spdlog::level::debug);
    logger() = std::move(opened);
    set_level(level);
}

bool is_on(Level level) { return is_on(level, {}); }

bool is_on(Level level, std::string_view area) {
    Level least = levels().log.load(std::memory_order_relaxed);
    if (const std::atomic<std::uint8_t>* own = levels().find(area)) {
        const std::uint8_t value = own->load(std::memory_order_relaxed);
        least = value == kFollowsTheLog ? least : static_cast<Level>(value);
    }
    return logger() && level >= least && level != Level::off;
}

void set_level(Level level) { levels().log.store(level, std::memory_order_relaxed); }

Level level() { return levels().log.load(std::memory_order_relaxed); }

void set_area_level(std::string_view area, std::optional<Level> level) {
    std::atomic<std::uint8_t>* own = levels().find(area);
    PARTITA_ASSERT(own != nullptr, "areas with levels of their own are listed");
    own->store(level ? static_cast<std::uint8_t>(*level) : kFollowsTheLog, std::memory_order_relaxed);
}

void write(Level level, std::string_view area, std::string_view message, std::initializer_list<Field> fields) {
    if (is_on(level, area)) {
        logger()->log(spdlog_level(level), "{}", format_event(level, area, message, fields));
    }
    if (level >= Level::info && hearing().has_listeners.load(std::memory_order_relaxed)) {
        tell_listeners(level, area, message, fields);
    }
}

Listener::Listener(std::function<void(Event event)> receive) : receive_(std::move(receive)) {
    const MutexLock lock(hearing().mutex);
    hearing().listeners.push_back(this);
    hearing().has_listeners = true;
}

Listener::~Listener() {
    const MutexLock lock(hearing().mutex);
    std::erase(hearing().listeners, this);
    hearing().has_listeners = !hearing().listeners.empty();
}

std::string format_event(Level level, std::string_view area, std::string_view message, std::initializer_list<Field> fields) {
    std::string line = fmt::format("{} {} {}", level_name(level), area, message);
    for (const Field& field : fields) {
        line += ' ';
        line += field.key;
        line += '=';
        append_value(line, field.value);
    }
    return line;
}

std::optional<std::uint64_t> RateLimiter::admit(std::string_view reason, Instant now) {
    const MutexLock lock(mutex_);
    auto found = reasons_.find(reason);
    if (found == reasons_.end() && reasons_.size() >= kMaxReasons) {
        // Callers take reasons from a fixed list. If one does not, its lines share a place instead of using more memory.
        found = reasons_.find("");
        reason = "";
    }
    if (found == reasons_.end()) {
        reasons_.emplace(std::string(reason), State{now, 0});
        return 0;
    }
    State& state = found->second;
    if (now - state.last < kInterval_ms) {
        ++state.suppressed;
        return std::nullopt;
    }
    state.last = now;
    return std::exchange(state.suppressed, 0);
}

}  // namespace partita::log
