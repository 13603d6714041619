#include <algorithm>

#include "broker/catalog/commands.h"
#include "protocol/utf16.h"

namespace partita::catalog {
namespace {

bool is_legal(char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') || character == '.' || character == '_' || character == '-';
}

}  // namespace

std::optional<std::string> topic_name_problem(std::string_view name) {
    const std::string prefix = "Topic name is invalid: ";
    if (name.empty()) {
        return prefix + "the empty string is not allowed";
    }
    if (name == ".") {
        return prefix + "'.' is not allowed";
    }
    if (name == "..") {
        return prefix + "'..' is not allowed";
    }
    if (utf16_length(name) > kMaxTopicNameLength) {
        return prefix + "the length of '" + std::string(name) + "' is longer than the max allowed length " +
               std::to_string(kMaxTopicNameLength);
    }
    if (!std::ranges::all_of(name, is_legal)) {
        return prefix + "'" + std::string(name) + "' contains one or more characters other than ASCII alphanumerics, " +
               "'.', '_' and '-'";
    }
    return std::nullopt;
}

}  // namespace partita::catalog
