#include "broker/logs/internal_logs.h"

#include <string>

#include "broker/config/log_setup.h"

namespace partita::logs {

void report_rewound_checkpoint(const PartitionLog& log, std::int64_t records) {
    if (records > 0) {
        log::warning("recovery", "a checkpoint is ahead of its log; the log lost its end",
                     {{"log", log.directory_name()}, {"records", records}});
    }
}

void report_unreadable_records(const PartitionLog& log, const UnreadableRecords& records) {
    if (records.count > 0) {
        log::error("coordinators", "left out records that cannot be read",
                   {{"log", log.directory_name()},
                    {"records", records.count},
                    {"first_offset", records.first == kNoOffset ? "in the checkpoint" : std::to_string(records.first.value)},
                    {"reason", records.reason}});
    }
}

}  // namespace partita::logs
