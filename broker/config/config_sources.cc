#include "broker/config/config_sources.h"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace partita::config {

std::expected<std::string, std::string> read_settings_file(const std::string& path) {
    constexpr std::size_t kBytesMax = 1024UL * 1024;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        return std::unexpected(std::string(std::strerror(errno)));
    }
    std::string text(kBytesMax + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad() || (file.fail() && !file.eof())) {
        return std::unexpected(std::string("the file cannot be read"));
    }
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > kBytesMax) {
        return std::unexpected("the file is longer than " + std::to_string(kBytesMax) + " bytes");
    }
    return text;
}

}  // namespace partita::config
