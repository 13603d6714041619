#pragma once

#include <expected>
#include <functional>
#include <string>

#include "broker/config/log_setup.h"

namespace partita::config {

/// Reads a file that a setting names. The error says why this is impossible: "No such file or directory".
using FileReader = std::function<std::expected<std::string, std::string>(const std::string& path)>;

/// Reads a file of the machine. Refuses one of more than a mebibyte.
[[nodiscard]] std::expected<std::string, std::string> read_settings_file(const std::string& path);

/// A line for the log of a start about the settings.
struct StartNote {
    log::Level level = log::Level::warning;
    /// A sentence without values.
    std::string message;
    /// The settings or the values that it is about.
    std::string key;
    std::string value;

    friend bool operator==(const StartNote&, const StartNote&) = default;
};

}  // namespace partita::config
