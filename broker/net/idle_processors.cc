#include "broker/net/idle_processors.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace partita::net {
namespace {

constexpr std::int64_t kMillisecondsOfHundredth = 10;

}  // namespace

std::optional<std::int32_t> IdleProcessors::read(Instant now) {
    if (last_ && now - *last_ < kLeastMs) {
        return std::nullopt;
    }
    if (!file_.is_open()) {
        file_ = FileDescriptor(
            ::open("/proc/uptime", O_RDONLY | O_CLOEXEC));  // Only for a busy reactor: a start does not pay for it.
    }
    std::array<char, 64> text{};
    const ssize_t count = ::pread(file_.get(), text.data(), text.size(), 0);
    const auto idle_ms = parse_idle_ms({text.data(), static_cast<std::size_t>(std::max<ssize_t>(0, count))});
    if (!idle_ms) {
        return kUnknownPermille;
    }
    const std::int64_t passed_ms = last_ ? now - *last_ : kMostMs;
    const std::int64_t idle_since_ms = *idle_ms - last_idle_ms_;
    last_ = now;
    last_idle_ms_ = *idle_ms;
    if (passed_ms >= kMostMs) {
        return std::nullopt;
    }
    return static_cast<std::int32_t>(std::max<std::int64_t>(0, 1000 * idle_since_ms / passed_ms));
}

std::optional<std::int64_t> IdleProcessors::parse_idle_ms(std::string_view uptime) {
    const std::size_t space = uptime.find(' ');
    if (space == std::string_view::npos) {
        return std::nullopt;
    }
    std::int64_t seconds = 0;
    const char* const end = uptime.data() + uptime.size();
    const auto [point, error] = std::from_chars(uptime.data() + space + 1, end, seconds);
    if (error != std::errc{} || end - point < 3 || *point != '.') {
        return std::nullopt;
    }
    std::int64_t hundredths = 0;
    const auto [rest, rest_error] = std::from_chars(point + 1, point + 3, hundredths);
    if (rest_error != std::errc{} || rest != point + 3) {
        return std::nullopt;
    }
    return seconds * 1000 + hundredths * kMillisecondsOfHundredth;
}

}  // namespace partita::net
