#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/types.h"

namespace partita {

/// Parses Kafka's checkpoint files: "0\n" (version), the number of lines, then lines of fields separated by one space. Returns
/// the fields of each line, or nothing when the text is not exactly that. `maximum_lines` bounds the number of lines.
[[nodiscard]] std::optional<std::vector<std::vector<std::string_view>>> parse_checkpoint_lines(std::string_view text,
                                                                                               std::size_t fields_per_line,
                                                                                               std::size_t maximum_lines);

[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

/// recovery-point-offset-checkpoint and log-start-offset-checkpoint: lines of "topic partition offset".
using OffsetCheckpoint = std::map<std::pair<std::string, std::int32_t>, Offset>;
inline constexpr std::size_t kMaximumCheckpointLines = 10'000'000;

[[nodiscard]] std::string to_text(const OffsetCheckpoint& checkpoint);
/// An empty text has no lines. Kafka creates these files empty when it starts, and writes some of them only a minute later.
[[nodiscard]] std::optional<OffsetCheckpoint> parse_offset_checkpoint(std::string_view text);

}  // namespace partita
