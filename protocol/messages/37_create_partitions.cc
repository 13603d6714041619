#include "protocol/messages/37_create_partitions.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(CreatePartitionsRequest::CreatePartitionsAssignment,
    FIELD(broker_ids, "BrokerIds"))

PARTITA_STRUCT(CreatePartitionsRequest::CreatePartitionsTopic,
    FIELD(name, "Name"),
    FIELD(count, "Count"),
    FIELD(assignments, "Assignments", nullable()))

PARTITA_MESSAGE(CreatePartitionsRequest, versions(0, 3), flexible_since(2),
    FIELD(topics, "Topics"),
    FIELD(timeout_ms, "TimeoutMs"),
    FIELD(validate_only, "ValidateOnly"))

PARTITA_STRUCT(CreatePartitionsResponse::CreatePartitionsTopicResult,
    FIELD(name, "Name"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()))

PARTITA_MESSAGE(CreatePartitionsResponse, versions(0, 3), flexible_since(2),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(results, "Results"))

PARTITA_API(create_partitions, CreatePartitions)
// clang-format on

}  // namespace partita
