#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "broker/client/partitions.h"

/// Where groups are to read on, as --export writes it and --from-file reads it: lines of "topic,partition,offset" for one group,
/// "group,topic,partition,offset" for several.
namespace partita::tools {

using GroupOffsets = std::map<client::TopicPartition, std::int64_t>;

/// One line, with its end. `group` is empty where it does not stand in the line.
[[nodiscard]] std::string plan_line(std::string_view group, const client::TopicPartition& partition, std::int64_t offset);

/// Reads the lines. With one group they may lack its name. The error says which line cannot be read.
[[nodiscard]] std::expected<std::map<std::string, GroupOffsets>, std::string> parse_plan(std::string_view text,
                                                                                         const std::vector<std::string>& groups);

}  // namespace partita::tools
