#include "broker/tools/times.h"

#include <array>
#include <charconv>
#include <ctime>
#include <string_view>

namespace partita::tools {
namespace {

/// Takes the digits at the front of a text; null if there are none, or the number is too large.
std::optional<std::int64_t> take_number(std::string_view& text) {
    std::size_t size = 0;
    while (size < text.size() && text[size] >= '0' && text[size] <= '9') {
        ++size;
    }
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + size, number);
    if (error != std::errc() || size == 0) {
        return std::nullopt;
    }
    text.remove_prefix(size);
    return number;
}

/// Parses "Z", "+01", "-01:30": milliseconds east of Greenwich.
std::optional<std::int64_t> take_zone(std::string_view& text) {
    if (text == "Z") {
        text = {};
        return 0;
    }
    const bool is_west = text.starts_with('-');
    if (!is_west && !text.starts_with('+')) {
        return std::nullopt;
    }
    text.remove_prefix(1);
    if (text.size() != 2 && text.size() != 5) {
        return std::nullopt;
    }
    const auto hours = take_number(text);
    std::int64_t minutes = 0;
    if (text.starts_with(':')) {
        text.remove_prefix(1);
        const auto said = take_number(text);
        if (!said) {
            return std::nullopt;
        }
        minutes = *said;
    }
    if (!hours || *hours > 23 || minutes > 59 || !text.empty()) {
        return std::nullopt;
    }
    return (is_west ? -1 : 1) * (*hours * 60 + minutes) * 60'000;
}

}  // namespace

std::expected<std::int64_t, std::string> parse_datetime(const std::string& text) {
    const std::size_t separator = text.find('T');
    if (separator == std::string::npos || separator + 1 == text.size()) {
        return std::unexpected(
            "java.text.ParseException: Error parsing timestamp. It does not contain a 'T' according to ISO8601 format");
    }
    const bool has_zone = text.find_first_of("+-Z", separator) != std::string::npos;
    const std::string whole = has_zone ? text : text + "Z";
    const auto unparseable = [&] { return std::unexpected("java.text.ParseException: Unparseable date: \"" + whole + "\""); };
    std::string_view rest = whole;
    std::array<std::int64_t, 7> fields{};
    constexpr std::string_view kBehind = "--T::.";
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const auto number = take_number(rest);
        if (!number) {
            return unparseable();
        }
        fields[i] = *number;
        if (i == kBehind.size()) {
            break;
        }
        if (!rest.starts_with(kBehind[i])) {
            return unparseable();
        }
        rest.remove_prefix(1);
    }
    const auto zone_ms = take_zone(rest);
    const auto [year, month, day, hour, minute, second, millisecond] = fields;
    constexpr std::int64_t kYearMax = 9999;
    const bool is_in_bounds = year <= kYearMax && month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour <= 23 &&
                              minute <= 59 && second <= 59 && millisecond <= 999;
    if (!zone_ms || !is_in_bounds) {
        return unparseable();
    }
    std::tm parts{};
    parts.tm_year = static_cast<int>(year) - 1900;
    parts.tm_mon = static_cast<int>(month) - 1;
    parts.tm_mday = static_cast<int>(day);
    parts.tm_hour = static_cast<int>(hour);
    parts.tm_min = static_cast<int>(minute);
    parts.tm_sec = static_cast<int>(second);
    const std::time_t seconds = ::timegm(&parts);
    // timegm turns the 31st of a month with 30 days into another day.
    if (parts.tm_mday != static_cast<int>(day)) {
        return unparseable();
    }
    return static_cast<std::int64_t>(seconds) * 1000 + millisecond - *zone_ms;
}

std::optional<std::int64_t> parse_duration(const std::string& text) {
    std::string_view rest = text;
    const auto take_sign = [&rest] {
        const bool is_minus = rest.starts_with('-');
        if (is_minus || rest.starts_with('+')) {
            rest.remove_prefix(1);
        }
        return is_minus ? -1 : 1;
    };
    const auto starts_with = [&rest](char letter) {
        const bool does = !rest.empty() && (rest.front() == letter || rest.front() == letter + 32);
        if (does) {
            rest.remove_prefix(1);
        }
        return does;
    };
    const std::int64_t sign = take_sign();
    if (!starts_with('P')) {
        return std::nullopt;
    }
    constexpr std::array<std::pair<char, std::int64_t>, 4> kUnits{
        {{'D', 86'400'000}, {'H', 3'600'000}, {'M', 60'000}, {'S', 1'000}}};
    std::size_t next_unit = 0;
    std::int64_t total_ms = 0;
    bool has_time = false;
    bool needs_more = true;
    while (!rest.empty()) {
        if (!has_time && starts_with('T')) {
            has_time = true;
            needs_more = true;
            next_unit = 1;
            continue;
        }
        const std::int64_t own_sign = take_sign();
        const auto number = take_number(rest);
        std::int64_t fraction_ms = 0;
        bool has_fraction = false;
        if (number && rest.starts_with('.')) {
            rest.remove_prefix(1);
            has_fraction = true;
            for (std::int64_t weight = 100; !rest.empty() && rest.front() >= '0' && rest.front() <= '9'; weight /= 10) {
                fraction_ms += (rest.front() - '0') * weight;
                rest.remove_prefix(1);
            }
        }
        std::size_t unit = next_unit;
        const std::size_t units_end = has_time ? kUnits.size() : 1;
        while (unit < units_end && !starts_with(kUnits[unit].first)) {
            ++unit;
        }
        if (!number || unit >= units_end || (has_fraction && kUnits[unit].first != 'S')) {
            return std::nullopt;
        }
        std::int64_t part_ms = 0;
        if (__builtin_mul_overflow(*number, kUnits[unit].second, &part_ms) ||
            __builtin_add_overflow(total_ms, own_sign * (part_ms + fraction_ms), &total_ms)) {
            return std::nullopt;
        }
        next_unit = unit + 1;
        needs_more = false;
    }
    return needs_more ? std::nullopt : std::optional(sign * total_ms);
}

}  // namespace partita::tools
