#pragma once

#include <cstdint>
#include <string_view>

#include "protocol/types.h"
#include "storage/partition_log.h"

namespace partita::runtime {

/// The name of the log that holds the catalog. Not a topic: clients cannot see it.
inline constexpr std::string_view kCatalogLogName = "__partita_catalog";
/// Its fixed id only tells its directory from a topic's.
inline constexpr TopicId kCatalogLogId{{'p', 'a', 'r', 't', 'i', 't', 'a', '-', 'c', 'a', 't', 'a', 'l', 'o', 'g', 1}};

/// One line for the log when a checkpoint knew so many records more than the log it is of.
void report_rewound_checkpoint(const PartitionLog& log, std::int64_t records);

}  // namespace partita::runtime
