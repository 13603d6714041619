#include "broker/config/java_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace partita::config::java {

namespace {

// Kafka's list separator is a comma with the white space (Java's \s) around it.
bool is_white_space(char character) {
    return character == ' ' || character == '\t' || character == '\n' || character == '\v' || character == '\f' ||
           character == '\r';
}

char lower(char character) { return character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character; }

char upper(char character) { return character >= 'a' && character <= 'z' ? static_cast<char>(character - 'a' + 'A') : character; }

}  // namespace

std::string_view trim(std::string_view text) {
    const auto is_blank = [](char character) { return static_cast<unsigned char>(character) <= ' '; };
    while (!text.empty() && is_blank(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && is_blank(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t minimum, std::int64_t maximum) {
    if (text.starts_with('+')) {
        text.remove_prefix(1);
        if (text.starts_with('-')) {
            return std::nullopt;
        }
    }
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < minimum || value > maximum) {
        return std::nullopt;
    }
    return value;
}

std::optional<double> parse_double(std::string_view text) {
    text = trim(text);
    bool negative = false;
    if (text.starts_with('+') || text.starts_with('-')) {
        negative = text.front() == '-';
        text.remove_prefix(1);
    }
    const double sign = negative ? -1.0 : 1.0;
    if (text == "NaN") {
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (text == "Infinity") {
        return sign * std::numeric_limits<double>::infinity();
    }
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if (hexadecimal) {
        text.remove_prefix(2);
        if (text.find_first_of("pP") == std::string_view::npos) {
            return std::nullopt;
        }
    }
    const std::string_view suffixes = "fFdD";
    if (!text.empty() && suffixes.find(text.back()) != std::string_view::npos) {
        text.remove_suffix(1);
    }
    // from_chars accepts these, but Java does not: "inf", "nan" and a second sign.
    if (text.empty() || (!hexadecimal && text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) ||
        text.front() == '-' || text.front() == '+') {
        return std::nullopt;
    }
    double value = 0;
    const std::chars_format format = hexadecimal ? std::chars_format::hex : std::chars_format::general;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, format);
    if (end != text.data() + text.size() || error == std::errc::invalid_argument) {
        return std::nullopt;
    }
    if (error == std::errc::result_out_of_range) {
        const std::size_t exponent = text.find_first_of("eEpP");
        const bool tiny = exponent != std::string_view::npos && text.substr(exponent + 1).starts_with('-');
        value = tiny ? 0.0 : std::numeric_limits<double>::infinity();
    }
    return sign * value;
}

std::string double_text(double value) {
    if (std::isnan(value)) {
        return "NaN";
    }
    if (std::isinf(value)) {
        return value < 0 ? "-Infinity" : "Infinity";
    }
    if (value == 0) {
        return std::signbit(value) ? "-0.0" : "0.0";
    }
    std::array<char, 64> buffer{};
    const auto written =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value), std::chars_format::scientific);
    const std::string_view scientific(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data()));
    const std::size_t mark = scientific.find('e');
    std::string digits;
    std::ranges::copy_if(scientific.substr(0, mark), std::back_inserter(digits), [](char c) { return c != '.'; });
    const int exponent = static_cast<int>(parse_integer(scientific.substr(mark + 1), -1000, 1000).value_or(0));

    std::string text = value < 0 ? "-" : "";
    if (exponent >= -3 && exponent < 7) {
        // Plain notation between 10^-3 and 10^7, always with a digit on both sides of the point.
        if (exponent < 0) {
            text += "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
            return text;
        }
        const std::size_t whole = static_cast<std::size_t>(exponent) + 1;
        if (digits.size() <= whole) {
            text += digits + std::string(whole - digits.size(), '0') + ".0";
        } else {
            text += digits.substr(0, whole) + "." + digits.substr(whole);
        }
        return text;
    }
    text += digits.substr(0, 1) + "." + (digits.size() > 1 ? digits.substr(1) : "0") + "E" + std::to_string(exponent);
    return text;
}

std::vector<std::string> split_list(std::string_view text) {
    text = trim(text);
    std::vector<std::string> items;
    if (text.empty()) {
        return items;
    }
    std::size_t begin = 0;
    for (;;) {
        const std::size_t comma = text.find(',', begin);
        std::string_view item = text.substr(begin, comma == std::string_view::npos ? comma : comma - begin);
        while (begin != 0 && !item.empty() && is_white_space(item.front())) {
            item.remove_prefix(1);
        }
        while (comma != std::string_view::npos && !item.empty() && is_white_space(item.back())) {
            item.remove_suffix(1);
        }
        items.emplace_back(item);
        if (comma == std::string_view::npos) {
            return items;
        }
        begin = comma + 1;
    }
}

std::vector<std::string> split_commas(std::string_view text) {
    std::vector<std::string> items;
    if (text.empty()) {
        return {""};
    }
    std::size_t begin = 0;
    for (;;) {
        const std::size_t comma = text.find(',', begin);
        items.emplace_back(text.substr(begin, comma == std::string_view::npos ? comma : comma - begin));
        if (comma == std::string_view::npos) {
            break;
        }
        begin = comma + 1;
    }
    while (!items.empty() && items.back().empty()) {
        items.pop_back();
    }
    return items;
}

std::string join(const std::vector<std::string>& items, std::string_view separator) {
    std::string text;
    for (std::size_t index = 0; index < items.size(); ++index) {
        if (index != 0) {
            text += separator;
        }
        text += items[index];
    }
    return text;
}

std::string list_text(const std::vector<std::string>& items) { return "[" + join(items, ", ") + "]"; }

bool equal_ignoring_case(std::string_view left, std::string_view right) {
    return std::ranges::equal(left, right, {}, lower, lower);
}

std::string to_upper(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), upper);
    return result;
}

std::string to_lower(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), lower);
    return result;
}

}  // namespace partita::config::java
