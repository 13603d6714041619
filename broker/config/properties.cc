#include "broker/config/properties.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "broker/config/java_text.h"

namespace partita::config {

namespace {

bool is_blank(char character) { return character == ' ' || character == '\t' || character == '\f'; }

void append_utf8(std::string& text, std::uint32_t code_point) {
    if (code_point < 0x80) {
        text += static_cast<char>(code_point);
    } else if (code_point < 0x800) {
        text += static_cast<char>(0xC0 | (code_point >> 6));
        text += static_cast<char>(0x80 | (code_point & 0x3F));
    } else if (code_point < 0x10000) {
        text += static_cast<char>(0xE0 | (code_point >> 12));
        text += static_cast<char>(0x80 | ((code_point >> 6) & 0x3F));
        text += static_cast<char>(0x80 | (code_point & 0x3F));
    } else {
        text += static_cast<char>(0xF0 | (code_point >> 18));
        text += static_cast<char>(0x80 | ((code_point >> 12) & 0x3F));
        text += static_cast<char>(0x80 | ((code_point >> 6) & 0x3F));
        text += static_cast<char>(0x80 | (code_point & 0x3F));
    }
}

std::optional<std::uint32_t> hexadecimal_unit(std::string_view text, std::size_t at) {
    if (at + 4 > text.size()) {
        return std::nullopt;
    }
    std::uint32_t unit = 0;
    for (const char character : text.substr(at, 4)) {
        const char digit = java::to_lower({&character, 1}).front();
        if (digit >= '0' && digit <= '9') {
            unit = unit * 16 + static_cast<std::uint32_t>(digit - '0');
        } else if (digit >= 'a' && digit <= 'f') {
            unit = unit * 16 + static_cast<std::uint32_t>(digit - 'a' + 10);
        } else {
            return std::nullopt;
        }
    }
    return unit;
}

// Decodes the escapes of a key or a value. Null if a \u is malformed.
std::optional<std::string> unescape(std::string_view text) {
    std::string result;
    std::uint32_t high_surrogate = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '\\' || at + 1 == text.size()) {
            if (text[at] != '\\') {
                result += text[at];
            }
            continue;
        }
        const char escaped = text[++at];
        switch (escaped) {
            case 't':
                result += '\t';
                break;
            case 'n':
                result += '\n';
                break;
            case 'r':
                result += '\r';
                break;
            case 'f':
                result += '\f';
                break;
            case 'u': {
                const std::optional<std::uint32_t> unit = hexadecimal_unit(text, at + 1);
                if (!unit) {
                    return std::nullopt;
                }
                at += 4;
                if (*unit >= 0xD800 && *unit < 0xDC00) {
                    high_surrogate = *unit;
                } else if (*unit >= 0xDC00 && *unit < 0xE000 && high_surrogate != 0) {
                    append_utf8(result, 0x10000 + ((high_surrogate - 0xD800) << 10) + (*unit - 0xDC00));
                    high_surrogate = 0;
                } else {
                    append_utf8(result, *unit);
                }
                break;
            }
            default:
                result += escaped;
        }
    }
    return result;
}

// Splits the text into logical lines: a natural line that ends in an odd number of backslashes continues in the next one.
class LogicalLines {
  public:
    explicit LogicalLines(std::string_view text) : text_(text) {}

    bool next(std::string& line) {
        line.clear();
        bool continued = false;
        while (at_ < text_.size()) {
            std::string_view natural = natural_line();
            while (!natural.empty() && is_blank(natural.front())) {
                natural.remove_prefix(1);
            }
            if (!continued && (natural.empty() || natural.front() == '#' || natural.front() == '!')) {
                continue;
            }
            std::size_t backslashes = 0;
            while (backslashes < natural.size() && natural[natural.size() - 1 - backslashes] == '\\') {
                ++backslashes;
            }
            continued = backslashes % 2 == 1;
            line += continued ? natural.substr(0, natural.size() - 1) : natural;
            if (!continued) {
                return true;
            }
        }
        return continued || !line.empty();
    }

    [[nodiscard]] int line_number() const { return line_number_; }

  private:
    std::string_view natural_line() {
        const std::size_t end = std::min(text_.find_first_of("\r\n", at_), text_.size());
        const std::string_view natural = text_.substr(at_, end - at_);
        at_ = end;
        if (at_ < text_.size()) {
            at_ += text_.substr(at_).starts_with("\r\n") ? 2 : 1;
        }
        ++line_number_;
        return natural;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int line_number_ = 0;
};

// The end of the key: the first unescaped separator or white space.
std::size_t end_of_key(std::string_view line) {
    for (std::size_t at = 0; at < line.size(); ++at) {
        if (line[at] == '\\') {
            ++at;
        } else if (line[at] == '=' || line[at] == ':' || is_blank(line[at])) {
            return at;
        }
    }
    return line.size();
}

std::size_t begin_of_value(std::string_view line, std::size_t at) {
    bool separator_seen = false;
    while (at < line.size()) {
        if (!separator_seen && (line[at] == '=' || line[at] == ':')) {
            separator_seen = true;
        } else if (!is_blank(line[at])) {
            break;
        }
        ++at;
    }
    return at;
}

// Variables with the prefix that control the image and its JVM and are not configs.
constexpr std::array<std::string_view, 12> kImageVariables = {
    "KAFKA_VERSION",     "KAFKA_HOME",     "KAFKA_HEAP_OPTS",    "KAFKA_OPTS",
    "KAFKA_JMX_OPTS",    "KAFKA_JMX_PORT", "KAFKA_JMX_HOSTNAME", "KAFKA_JVM_PERFORMANCE_OPTS",
    "KAFKA_GC_LOG_OPTS", "KAFKA_DEBUG",    "KAFKA_MODE",         "KAFKA_CLASSPATH"};

}  // namespace

std::expected<ConfigMap, ConfigError> parse_properties(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) {
        text.remove_prefix(3);
    }
    ConfigMap configs;
    LogicalLines lines(text);
    std::string line;
    while (lines.next(line)) {
        const std::size_t key_end = end_of_key(line);
        const auto key = unescape(std::string_view(line).substr(0, key_end));
        const auto value = unescape(std::string_view(line).substr(begin_of_value(line, key_end)));
        if (!key || !value) {
            return std::unexpected(ConfigError{.message = "Malformed \\uxxxx encoding in line " +
                                                          std::to_string(lines.line_number()) +
                                                          " of the properties file: four hexadecimal digits must follow \\u"});
        }
        configs.insert_or_assign(*key, *value);
    }
    return configs;
}

std::optional<std::string> config_name_of_environment(std::string_view variable) {
    if (variable == "CLUSTER_ID") {
        return "partita.cluster.id";
    }
    if (!variable.starts_with("KAFKA_") || std::ranges::find(kImageVariables, variable) != kImageVariables.end() ||
        variable.starts_with("KAFKA_LOG4J_") || variable.starts_with("KAFKA_TOOLS_LOG4J_")) {
        return std::nullopt;
    }
    const std::string_view rest = variable.substr(6);
    std::string name;
    for (std::size_t at = 0; at < rest.size();) {
        if (rest.substr(at).starts_with("___")) {
            name += '-';
            at += 3;
        } else if (rest.substr(at).starts_with("__")) {
            name += '_';
            at += 2;
        } else {
            name += rest[at] == '_' ? '.' : rest[at];
            ++at;
        }
    }
    if (name.empty()) {
        return std::nullopt;
    }
    return java::to_lower(name);
}

ConfigMap configs_of_environment(std::span<const std::string> environment) {
    ConfigMap configs;
    for (const std::string& entry : environment) {
        const std::size_t equals = entry.find('=');
        if (equals == std::string::npos) {
            continue;
        }
        if (auto name = config_name_of_environment(std::string_view(entry).substr(0, equals))) {
            configs.insert_or_assign(std::move(*name), entry.substr(equals + 1));
        }
    }
    return configs;
}

std::expected<std::pair<std::string, std::string>, ConfigError> parse_override(std::string_view text) {
    const std::size_t equals = text.find('=');
    const std::string_view key = java::trim(text.substr(0, std::min(equals, text.size())));
    if (equals == std::string_view::npos || key.empty()) {
        return std::unexpected(ConfigError{.message = "Invalid override '" + std::string(text) + "': it must be key=value"});
    }
    return std::pair{std::string(key), std::string(text.substr(equals + 1))};
}

}  // namespace partita::config
