#pragma once

#include <cstddef>
#include <expected>
#include <string>

namespace partita::cli {

/// The text of a file, "-" for the standard input. The error is a sentence: it cannot be read, or has more bytes.
[[nodiscard]] std::expected<std::string, std::string> read_text_file(const std::string& path, std::size_t bytes_max);

/// Writes a file anew. The error is a sentence.
[[nodiscard]] std::expected<void, std::string> write_text_file(const std::string& path, const std::string& text);

}  // namespace partita::cli
