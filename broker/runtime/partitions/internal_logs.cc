#include "broker/runtime/partitions/internal_logs.h"

#include "broker/config/log_setup.h"

namespace partita::runtime {

void report_rewound_checkpoint(const PartitionLog& log, std::int64_t records) {
    if (records > 0) {
        log::warning("recovery", "a checkpoint knows more than its log, which must have lost its end",
                     {{"log", log.directory_name()}, {"records", records}});
    }
}

}  // namespace partita::runtime
