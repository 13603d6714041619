#pragma once

#include <cstdint>
#include <string_view>

#include "broker/catalog/catalog.h"
#include "protocol/types.h"
#include "storage/partition_log.h"

namespace partita::logs {

using catalog::kCatalogLogName;
/// The fixed id of the catalog's log. It only tells the log's directory from a topic's.
inline constexpr TopicId kCatalogLogId{{'p', 'a', 'r', 't', 'i', 't', 'a', '-', 'c', 'a', 't', 'a', 'l', 'o', 'g', 1}};

/// Writes one log line if the checkpoint of a log held `records` records more than the log itself.
void report_rewound_checkpoint(const PartitionLog& log, std::int64_t records);

/// Records of an internal log with valid checksums that its coordinators cannot read.
struct UnreadableRecords {
    std::int64_t count = 0;
    /// The offset of the first such record; kNoOffset if it is in the checkpoint.
    Offset first = kNoOffset;
    std::string_view reason;

    void note(Offset offset, std::string_view why) {
        if (count++ == 0) {
            first = offset;
            reason = why;
        }
    }
};
/// Writes one log line if there are any.
void report_unreadable_records(const PartitionLog& log, const UnreadableRecords& records);

}  // namespace partita::logs
