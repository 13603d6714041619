#include "broker/http/parameters.h"

#include <charconv>

#include "broker/config/java_text.h"

namespace partita::http {

std::optional<std::int64_t> parse_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

std::optional<PartitionIndex> parse_partition_index(std::string_view text) {
    const auto number = parse_number(text);
    if (!number || *number < 0 || *number > std::numeric_limits<std::int32_t>::max()) {
        return std::nullopt;
    }
    return PartitionIndex{static_cast<std::int32_t>(*number)};
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
        std::string(name) + "=" + std::string(*text) + " is not a number of at least " + std::to_string(range.least);
    if (range.most < NumberRange().most) {
        sentence += " and at most " + std::to_string(range.most);
    }
    return std::unexpected(std::move(sentence));
}

bool PageWish::wants(std::string_view name) const {
    return search.empty() || config::java::to_lower(name).find(search) != std::string::npos;
}

std::expected<PageWish, std::string> parse_page(const Request& request) {
    PageWish page;
    page.search = config::java::to_lower(request.parameter("search").value_or(""));
    const auto skip = number_parameter(request, "skip", {});
    const auto limit = number_parameter(request, "limit", {.least = 1});
    if (!skip || !limit) {
        return std::unexpected(!skip ? skip.error() : limit.error());
    }
    page.skip = static_cast<std::size_t>(skip->value_or(0));
    if (*limit) {
        page.limit = static_cast<std::size_t>(**limit);
    }
    return page;
}

}  // namespace partita::http
