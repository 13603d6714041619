#pragma once

#include <string>

#include "broker/cli/command_line.h"

namespace partita::cli {

/// The manual page of a command in roff, for section 1. The program's page describes the program, how to serve with it, and its
/// commands.
[[nodiscard]] std::string manual_page(const Command& command, const std::string& version);

}  // namespace partita::cli
