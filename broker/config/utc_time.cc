#include "broker/config/utc_time.h"

#include <fmt/chrono.h>

#include <ctime>

namespace partita::config {

std::optional<TimestampMs> parse_utc_time(const std::string& text) {
    for (const char* format : {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d"}) {
        std::tm parts{};
        const char* stopped = ::strptime(text.c_str(), format, &parts);
        if (stopped != nullptr && *stopped == '\0') {
            return TimestampMs{static_cast<std::int64_t>(::timegm(&parts)) * 1000};
        }
    }
    return std::nullopt;
}

std::string utc_time_text(TimestampMs time) {
    if (time.value < 0 || time > kLastTime) {
        return std::to_string(time.value) + " ms";
    }
    const auto seconds = static_cast<std::time_t>(time.value / 1000);
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds), time.value % 1000);
}

}  // namespace partita::config
