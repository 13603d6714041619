#include "protocol/messages/20_delete_topics.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(DeleteTopicsRequest::DeleteTopicState,
    FIELD(name, "Name", since(6), nullable()),
    FIELD(topic_id, "TopicId", since(6)))

PARTITA_MESSAGE(DeleteTopicsRequest, versions(1, 6), flexible_since(4),
    FIELD(topics, "Topics", since(6)),
    FIELD(topic_names, "TopicNames", versions(1, 5), ignorable),
    FIELD(timeout_ms, "TimeoutMs"))

PARTITA_STRUCT(DeleteTopicsResponse::DeletableTopicResult,
    FIELD(name, "Name", nullable(since(6))),
    FIELD(topic_id, "TopicId", since(6), ignorable),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", since(5), nullable(), ignorable))

PARTITA_MESSAGE(DeleteTopicsResponse, versions(1, 6), flexible_since(4),
    FIELD(throttle_time_ms, "ThrottleTimeMs", ignorable),
    FIELD(responses, "Responses"))

PARTITA_API(delete_topics, DeleteTopics)
// clang-format on

}  // namespace partita
