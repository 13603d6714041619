#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// JAAS lines, the format of `sasl.jaas.config`: `CLASS FLAG name=value ... ;`. The parser follows Kafka, which splits the text
/// with Java's StreamTokenizer. A word ends at white space, a quote, '=', ';' or '/'; '/' begins a comment; quoted text knows the
/// escapes of C.
namespace partita::authentication {

/// A longer text is refused.
inline constexpr std::size_t kJaasBytesMax = 1024 * 1024;

enum class ControlFlag : std::uint8_t { required, requisite, sufficient, optional };

struct LoginModule {
    std::string class_name;
    ControlFlag flag = ControlFlag::required;
    /// If a name repeats, the last value counts.
    std::map<std::string, std::string, std::less<>> options;

    /// Null if the option is missing.
    [[nodiscard]] const std::string* option(std::string_view name) const;
};

struct JaasError {
    /// Kafka's text. It contains names of options and no values.
    std::string message;
    /// The line of the error, counted from 1.
    std::size_t line = 1;
    std::size_t column = 1;
};

/// All modules of the text, at least one.
[[nodiscard]] std::expected<std::vector<LoginModule>, JaasError> parse_jaas(std::string_view text);

/// The sections of a JAAS file by name, each with its modules: `KafkaServer { CLASS FLAG name=value ... ; };`. Such files are
/// named by Java's system property java.security.auth.login.config.
using JaasSections = std::map<std::string, std::vector<LoginModule>, std::less<>>;
[[nodiscard]] std::expected<JaasSections, JaasError> parse_jaas_file(std::string_view text);

}  // namespace partita::authentication
