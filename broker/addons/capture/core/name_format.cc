#include "broker/addons/capture/core/name_format.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>

#include "broker/addons/capture/core/civil_time.h"

namespace partita::capture {
namespace {

bool is_letter_or_digit(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
}

std::string padded(long long value, int digits) {
    std::array<char, 16> text;
    std::snprintf(text.data(), text.size(), "%0*lld", digits, value);
    return text.data();
}

/// The fault of the text between two slashes; empty if it is valid.
std::string_view fault_of_place(std::string_view place) {
    if (place.empty()) {
        return "a part between slashes is empty";
    }
    return place.front() == '.' ? std::string_view("a part between slashes must not begin with a dot") : std::string_view();
}

}  // namespace

bool is_namespace(std::string_view text) {
    constexpr std::size_t kNamespaceMax = 50;
    return !text.empty() && text.size() <= kNamespaceMax && text.front() != '.' && std::ranges::all_of(text, [](char letter) {
        return is_letter_or_digit(letter) || std::string_view("._-").contains(letter);
    });
}

std::expected<NameFormat, std::string> NameFormat::parse(std::string_view text) {
    if (text.size() > kTextMax) {
        return std::unexpected("at most " + std::to_string(kTextMax) + " characters are allowed");
    }
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('/', begin), text.size());
        if (const std::string_view fault = fault_of_place(text.substr(begin, end - begin)); !fault.empty()) {
            return std::unexpected(std::string(fault));
        }
        begin = end + 1;
    }
    NameFormat format;
    std::array<bool, std::size(kTokens)> seen{};
    while (!text.empty()) {
        const auto token = std::ranges::find_if(kTokens, [&](std::string_view name) { return text.starts_with(name); });
        if (token != std::end(kTokens)) {
            const auto index = static_cast<std::size_t>(token - std::begin(kTokens));
            seen[index] = true;
            format.pieces_.push_back({static_cast<Token>(index), {}});
            text.remove_prefix(token->size());
            continue;
        }
        const char letter = text.front();
        if (!is_letter_or_digit(letter) && !std::string_view("._-=/").contains(letter)) {
            return std::unexpected(letter == '{' ? "unknown token at " + std::string(text)
                                                 : "text outside tokens must be letters, digits and ._-=/");
        }
        if (format.pieces_.empty() || format.pieces_.back().token != Token::text) {
            format.pieces_.push_back({});
        }
        format.pieces_.back().text.push_back(letter);
        text.remove_prefix(1);
    }
    if (const auto missing = std::ranges::find(seen, false); missing != seen.end()) {
        return std::unexpected("the token " + std::string(kTokens[missing - seen.begin()]) + " is missing");
    }
    return format;
}

std::string NameFormat::path(const NameParts& parts) const {
    const CivilTime time = civil_time(parts.time);
    std::string path;
    for (const Piece& piece : pieces_) {
        switch (piece.token) {
            case Token::name_space:
                path += parts.name_space;
                break;
            case Token::topic:
                path += parts.topic;
                break;
            case Token::partition:
                path += std::to_string(parts.partition.value);
                break;
            case Token::year:
                path += padded(static_cast<int>(time.date.year()), 4);
                break;
            case Token::month:
                path += padded(static_cast<unsigned>(time.date.month()), 2);
                break;
            case Token::day:
                path += padded(static_cast<unsigned>(time.date.day()), 2);
                break;
            case Token::hour:
                path += padded(time.clock.hours().count(), 2);
                break;
            case Token::minute:
                path += padded(time.clock.minutes().count(), 2);
                break;
            case Token::second:
                path += padded(time.clock.seconds().count(), 2);
                break;
            case Token::text:
                path += piece.text;
                break;
        }
    }
    return path + ".avro";
}

}  // namespace partita::capture
