#pragma once

#include <string>

#include "broker/cli/command_model.h"

/// Manual pages of the commands, made of what they take. Pure.
namespace partita::cli {

/// The page "partita-NAME(1)" in man's language.
[[nodiscard]] std::string manual_page(const CommandModel& command, const std::string& version);

}  // namespace partita::cli
