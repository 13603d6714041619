#pragma once

#include <span>

#include "broker/tools/tool.h"

/// The line of kafka-reassign-partitions.
namespace partita::tools {

[[nodiscard]] std::span<const Option> reassign_options();

/// One action, its required options, and no option of another action; the errors are Kafka's.
[[nodiscard]] Outcome<void> check_reassign_line(const Options& options);

}  // namespace partita::tools
