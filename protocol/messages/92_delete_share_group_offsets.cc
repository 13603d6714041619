#include "protocol/messages/92_delete_share_group_offsets.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(DeleteShareGroupOffsetsRequest::Topic,
    FIELD(topic_name, "TopicName"))

PARTITA_MESSAGE(DeleteShareGroupOffsetsRequest, versions(0, 0), flexible_since(0),
    FIELD(group_id, "GroupId"),
    FIELD(topics, "Topics"))

PARTITA_STRUCT(DeleteShareGroupOffsetsResponse::Topic,
    FIELD(topic_name, "TopicName"),
    FIELD(topic_id, "TopicId"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()))

PARTITA_MESSAGE(DeleteShareGroupOffsetsResponse, versions(0, 0), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(responses, "Responses"))

PARTITA_API(delete_share_group_offsets, DeleteShareGroupOffsets)
// clang-format on

}  // namespace partita
