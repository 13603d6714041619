#include "broker/http/parameters.h"

#include <charconv>

namespace partita::http {

std::optional<std::int64_t> parse_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

bool is_set(const Request& request, std::string_view name) {
    const auto value = request.parameter(name);
    return value && *value != "0" && *value != "false";
}

std::expected<std::optional<std::int64_t>, std::string> number_parameter(const Request& request, std::string_view name,
                                                                         NumberRange range) {
    const auto text = request.parameter(name);
    if (!text) {
        return std::nullopt;
    }
    const auto value = parse_number(*text);
    if (value && *value >= range.least && *value <= range.most) {
        return value;
    }
    std::string sentence =
        std::string(name) + "=" + std::string(*text) + " is no number of at least " + std::to_string(range.least);
    if (range.most < NumberRange().most) {
        sentence += " and at most " + std::to_string(range.most);
    }
    return std::unexpected(std::move(sentence));
}

}  // namespace partita::http
