#pragma once

#include <array>
#include <cstdint>
#include <ctime>
#include <string>

namespace partita::cli {

/// "14:02:11", in local time.
[[nodiscard]] inline std::string clock_time(std::int64_t time_ms) {
    const std::time_t seconds = time_ms / 1000;
    std::tm parts{};
    ::localtime_r(&seconds, &parts);
    std::array<char, 16> text{};
    std::strftime(text.data(), text.size(), "%H:%M:%S", &parts);
    return text.data();
}

}  // namespace partita::cli
