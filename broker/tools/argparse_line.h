#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Lines of the tools that read their options with argparse4j.
namespace partita::tools {

/// The argument of an option.
enum class ArgumentKind : std::uint8_t {
    none,
    text,
    int32,
    int64,
    real,
    list,  ///< One word or more.
};

struct ArgparseOption {
    /// Without dashes.
    std::string_view name;
    ArgumentKind kind = ArgumentKind::text;
    bool is_required = false;
    /// Exactly one of the options with this mark is required.
    bool is_alternative = false;
};

/// Reads a line like argparse4j: names may be shortened, a list takes all words up to the next option, and of repeated options
/// the last counts. Returns the line for `Options::parse`, one word for each value ("--name=value"), or only "--help". The error
/// is argparse4j's.
[[nodiscard]] std::expected<std::vector<std::string>, std::string> read_argparse_line(std::span<const ArgparseOption> table,
                                                                                      std::span<const std::string> words);

/// A number in the syntax of Java's Double.parseDouble, without hexadecimal digits.
[[nodiscard]] std::optional<double> parse_real(std::string_view text);

}  // namespace partita::tools
