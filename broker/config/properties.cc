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

// Variables with the prefix that control an image, its JVM or its scripts and are not configs (image_variables.h reads some of
// them).
constexpr std::array<std::string_view, 36> kImageVariables = {
    "KAFKA_VERSION",
    "KAFKA_HOME",
    "KAFKA_HEAP_OPT",
    "KAFKA_HEAP_OPTS",
    "KAFKA_OPTS",
    "KAFKA_EXTRA_ARGS",
    "KAFKA_EXTRA_FLAGS",
    "KAFKA_JVM_PERFORMANCE_OPTS",
    "KAFKA_GC_LOG_OPTS",
    "KAFKA_DEBUG",
    "KAFKA_MODE",
    "KAFKA_CLASSPATH",
    "KAFKA_USER",
    "KAFKA_GROUP",
    "KAFKA_DATA_DIRS",
    "KAFKA_CUB_ZK_TIMEOUT",
    // bitnami/kafka
    "KAFKA_ENABLE_KRAFT",
    "KAFKA_CLIENT_USERS",
    "KAFKA_CLIENT_PASSWORDS",
    "KAFKA_CLIENT_PASSWORDS_FILE",
    "KAFKA_CLIENT_LISTENER_NAME",
    "KAFKA_INTER_BROKER_USER",
    "KAFKA_INTER_BROKER_PASSWORD",
    "KAFKA_INTER_BROKER_PASSWORD_FILE",
    "KAFKA_CONTROLLER_USER",
    "KAFKA_CONTROLLER_PASSWORD",
    "KAFKA_CONTROLLER_PASSWORD_FILE",
    "KAFKA_CERTIFICATE_PASSWORD",
    "KAFKA_CERTIFICATE_PASSWORD_FILE",
    "KAFKA_SKIP_KRAFT_STORAGE_INIT",
    "KAFKA_KRAFT_BOOTSTRAP_SCRAM_USERS",
    "KAFKA_VOLUME_DIR",
    "KAFKA_DATA_DIR",
    // wurstmeister/kafka
    "KAFKA_CREATE_TOPICS",
    "KAFKA_CREATE_TOPICS_SEPARATOR",
    "KAFKA_CREATE_TOPICS_TIMEOUT",
};
constexpr std::array<std::string_view, 8> kImagePrefixes = {"KAFKA_LOG4J_", "KAFKA_LOG4J2_",      "KAFKA_TOOLS_LOG4J_",
                                                            "KAFKA_JMX_",   "KAFKA_TLS_",         "KAFKA_ZOOKEEPER_TLS_",
                                                            "KAFKA_INIT_",  "KAFKA_PROVISIONING_"};

/// A variable that Kubernetes sets in every container beside a Service `kafka`.
bool is_of_kubernetes(std::string_view name, std::string_view value) {
    return (name.starts_with("KAFKA_PORT_") && name.contains("_TCP")) || name == "KAFKA_SERVICE_HOST" ||
           name.starts_with("KAFKA_SERVICE_PORT") || (name == "KAFKA_PORT" && value.contains("://"));
}

std::string dotted(std::string_view rest) {
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
    return java::to_lower(name);
}

/// The config of KAFKA_CFG_...: every "_" is a dot, except in names of protocols.
std::string name_of_bitnami(std::string_view rest) {
    std::string name = java::to_lower(rest);
    std::ranges::replace(name, '_', '.');
    for (const auto& [wrong, right] : {std::pair{std::string_view("sasl.ssl"), std::string_view("sasl_ssl")},
                                       std::pair{std::string_view("sasl.plaintext"), std::string_view("sasl_plaintext")}}) {
        for (std::size_t at = name.find(wrong); at != name.npos; at = name.find(wrong, at + 1)) {
            name.replace(at, wrong.size(), right);
        }
    }
    return name == "zookeeper.clientcnxnsocket" ? "zookeeper.clientCnxnSocket" : name;
}

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
    constexpr std::string_view kPrefix = "KAFKA_";
    constexpr std::string_view kBitnamiPrefix = "KAFKA_CFG_";
    if (variable == "CLUSTER_ID" || variable == "KAFKA_CLUSTER_ID" || variable == "KAFKA_KRAFT_CLUSTER_ID") {
        return "partita.cluster.id";
    }
    if (variable.size() <= kPrefix.size() || !variable.starts_with(kPrefix) ||
        std::ranges::find(kImageVariables, variable) != kImageVariables.end() ||
        std::ranges::any_of(kImagePrefixes, [&](std::string_view prefix) { return variable.starts_with(prefix); }) ||
        is_of_kubernetes(variable, "")) {
        return std::nullopt;
    }
    if (variable.starts_with(kBitnamiPrefix) && variable.size() > kBitnamiPrefix.size()) {
        return name_of_bitnami(variable.substr(kBitnamiPrefix.size()));
    }
    return dotted(variable.substr(kPrefix.size()));
}

ConfigMap configs_of_environment(std::span<const std::string> environment) {
    ConfigMap configs;
    // bitnami's image lets KAFKA_X override KAFKA_CFG_X.
    for (const bool is_bitnami : {true, false}) {
        for (const std::string& entry : environment) {
            const std::size_t equals = entry.find('=');
            const std::string_view variable = std::string_view(entry).substr(0, equals);
            if (equals == std::string::npos || entry.starts_with("KAFKA_CFG_") != is_bitnami) {
                continue;
            }
            auto name = config_name_of_environment(variable);
            if (name && !is_of_kubernetes(variable, std::string_view(entry).substr(equals + 1))) {
                configs.insert_or_assign(std::move(*name), entry.substr(equals + 1));
            }
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
