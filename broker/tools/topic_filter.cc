#include "broker/tools/topic_filter.h"

#include <algorithm>

namespace partita::tools {

std::expected<TopicFilter, std::string> TopicFilter::parse(std::string_view text) {
    std::string regex;
    for (const char letter : text) {
        if (letter != ' ') {
            regex += letter == ',' ? '|' : letter;
        }
    }
    const auto is_quote = [](char letter) { return letter == '"' || letter == '\''; };
    regex.erase(regex.begin(), std::ranges::find_if_not(regex, is_quote));
    while (!regex.empty() && is_quote(regex.back())) {
        regex.pop_back();
    }
    auto match = groups::WholeMatch::compile(regex);
    if (!match) {
        return std::unexpected(regex + " is an invalid regex.");
    }
    return TopicFilter(std::move(*match));
}

}  // namespace partita::tools
