#include "broker/tools/simple_date_format.h"

#include <cstdlib>
#include <ctime>
#include <string_view>

namespace partita::tools {
namespace {

constexpr std::string_view kServed = "yMdDEaHkKhmsSzZX";
constexpr std::string_view kJavas = "GyYMLwWDdFEuaHkKhmsSzZX";
constexpr std::int64_t kSecondMs = 1000;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string digits(std::int64_t number, int width) {
    std::string text = std::to_string(number);
    if (text.size() < static_cast<std::size_t>(width)) {
        text.insert(0, static_cast<std::size_t>(width) - text.size(), '0');
    }
    return text;
}

std::string name_of(const char* form, const std::tm& parts) {
    char text[64] = {};
    std::strftime(text, sizeof text, form, &parts);
    return text;
}

/// "+0100", or for X: "Z", "+01", "+0100", "+01:00".
std::string offset_text(long seconds, char letter, int count) {
    if (letter == 'X' && seconds == 0) {
        return "Z";
    }
    const long minutes = std::labs(seconds) / 60;
    const std::string hours = (seconds < 0 ? "-" : "+") + digits(minutes / 60, 2);
    if (letter == 'X' && count == 1) {
        return hours;
    }
    return hours + (letter == 'X' && count == 3 ? ":" : "") + digits(minutes % 60, 2);
}

}  // namespace

std::expected<SimpleDateFormat, std::string> SimpleDateFormat::parse(const std::string& pattern) {
    SimpleDateFormat format;
    bool is_quoted = false;
    const auto add_text = [&](char c) {
        if (format.parts_.empty() || format.parts_.back().letter != 0) {
            format.parts_.push_back({});
        }
        format.parts_.back().text += c;
    };
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char c = pattern[i];
        if (c == '\'' && i + 1 < pattern.size() && pattern[i + 1] == '\'') {
            add_text(c);
            ++i;
        } else if (c == '\'') {
            is_quoted = !is_quoted;
            // A new part begins behind a quotation.
            format.parts_.push_back({});
        } else if (is_quoted || !is_letter(c)) {
            add_text(c);
        } else if (kJavas.find(c) == std::string_view::npos) {
            return std::unexpected("Illegal pattern character '" + std::string(1, c) + "'");
        } else if (kServed.find(c) == std::string_view::npos) {
            return std::unexpected("the letter " + std::string(1, c) + " of a date format is not served");
        } else if (!format.parts_.empty() && format.parts_.back().letter == c) {
            ++format.parts_.back().count;
        } else {
            format.parts_.push_back({.letter = c, .count = 1});
        }
        const auto& last = format.parts_.back();
        if (last.letter == 'X' && last.count > 3) {
            return std::unexpected("invalid ISO 8601 format: length=" + std::to_string(last.count));
        }
    }
    if (is_quoted) {
        return std::unexpected("Unterminated quote");
    }
    return format;
}

std::string SimpleDateFormat::format(std::int64_t time_ms) const {
    const std::int64_t rest_ms = ((time_ms % kSecondMs) + kSecondMs) % kSecondMs;
    const std::time_t seconds = (time_ms - rest_ms) / kSecondMs;
    std::tm parts{};
    ::localtime_r(&seconds, &parts);
    std::string text;
    for (const Part& part : parts_) {
        const auto number = [&](std::int64_t value) { text += digits(value, part.count); };
        switch (part.letter) {
            case 0:
                text += part.text;
                break;
            case 'y':
                part.count == 2 ? number((parts.tm_year + 1900) % 100) : number(parts.tm_year + 1900);
                break;
            case 'M':
                part.count < 3 ? number(parts.tm_mon + 1) : void(text += name_of(part.count == 3 ? "%b" : "%B", parts));
                break;
            case 'd':
                number(parts.tm_mday);
                break;
            case 'D':
                number(parts.tm_yday + 1);
                break;
            case 'E':
                text += name_of(part.count < 4 ? "%a" : "%A", parts);
                break;
            case 'a':
                text += parts.tm_hour < 12 ? "AM" : "PM";
                break;
            case 'H':
                number(parts.tm_hour);
                break;
            case 'k':
                number(parts.tm_hour == 0 ? 24 : parts.tm_hour);
                break;
            case 'K':
                number(parts.tm_hour % 12);
                break;
            case 'h':
                number(parts.tm_hour % 12 == 0 ? 12 : parts.tm_hour % 12);
                break;
            case 'm':
                number(parts.tm_min);
                break;
            case 's':
                number(parts.tm_sec);
                break;
            case 'S':
                number(rest_ms);
                break;
            case 'z':
                text += parts.tm_zone;
                break;
            default:
                text += offset_text(parts.tm_gmtoff, part.letter, part.count);
                break;
        }
    }
    return text;
}

}  // namespace partita::tools
