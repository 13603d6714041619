#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "broker/client/partitions.h"

/// Groups' new offsets in the format of --export and --from-file: lines of "topic,partition,offset" for one group,
/// "group,topic,partition,offset" for several.
namespace partita::tools {

using GroupOffsets = std::map<client::TopicPartition, std::int64_t>;

/// One line with its line end. An empty `group` is left out.
[[nodiscard]] std::string plan_line(std::string_view group, const client::TopicPartition& partition, std::int64_t offset);

/// Parses the lines. For a single group they may lack its name. The error names the invalid line.
[[nodiscard]] std::expected<std::map<std::string, GroupOffsets>, std::string> parse_plan(std::string_view text,
                                                                                         const std::vector<std::string>& groups);

}  // namespace partita::tools
