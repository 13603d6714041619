#include "broker/cli/text_file.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "protocol/printable.h"

namespace partita::cli {
namespace {

using OpenFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::string reason() { return std::generic_category().message(errno); }

}  // namespace

std::expected<std::string, std::string> read_text_file(const std::string& path, std::size_t bytes_max) {
    const bool is_input = path == "-";
    const OpenFile opened(is_input ? nullptr : std::fopen(path.c_str(), "rb"), &std::fclose);
    std::FILE* const file = is_input ? stdin : opened.get();
    const std::string shown = is_input ? "the standard input" : path;
    if (file == nullptr) {
        return std::unexpected("cannot read " + shown + ": " + reason());
    }
    std::string text;
    char piece[16 * 1024];
    while (const std::size_t got = std::fread(piece, 1, sizeof piece, file)) {
        text.append(piece, got);
        if (text.size() > bytes_max) {
            return std::unexpected(shown + " is larger than " + size_text(static_cast<double>(bytes_max)));
        }
    }
    if (std::ferror(file) != 0) {
        return std::unexpected("cannot read " + shown + ": " + reason());
    }
    return text;
}

std::expected<void, std::string> write_text_file(const std::string& path, const std::string& text) {
    const OpenFile file(std::fopen(path.c_str(), "wb"), &std::fclose);
    const bool is_written =
        file && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() && std::fflush(file.get()) == 0;
    if (!is_written) {
        return std::unexpected("cannot write " + path + ": " + reason());
    }
    return {};
}

}  // namespace partita::cli
