#pragma once

#include <array>
#include <cstdint>
#include <ctime>
#include <string>

namespace partita::cli {

[[nodiscard]] inline std::string local_time(std::int64_t time_ms, const char* format) {
    const std::time_t seconds = time_ms / 1000;
    std::tm parts{};
    ::localtime_r(&seconds, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), format, &parts);
    return text.data();
}

/// "14:02:11", in local time.
[[nodiscard]] inline std::string clock_time(std::int64_t time_ms) { return local_time(time_ms, "%H:%M:%S"); }
/// "2026-11-29 14:02:11", in local time.
[[nodiscard]] inline std::string date_and_time(std::int64_t time_ms) { return local_time(time_ms, "%Y-%m-%d %H:%M:%S"); }

}  // namespace partita::cli
