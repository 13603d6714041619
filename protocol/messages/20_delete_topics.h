#pragma once

#include "protocol/schema.h"

namespace partita {

/// DeleteTopics (key 20): versions 1 to 6, flexible from 4.
///
///   v2 to v3: No change of layout.
///   v4: Flexible encoding.
///   v5: The response gains ErrorMessage.
///   v6: The request gains Topics and loses TopicNames; the response gains TopicId and lets Name be null.
struct DeleteTopicsRequest {
    struct DeleteTopicState {
        std::optional<std::string_view> name;  ///< v6, may be null
        Uuid topic_id;                         ///< v6

        static const Schema schema;
    };

    Array<DeleteTopicState> topics;       ///< v6
    Array<std::string_view> topic_names;  ///< up to v5
    std::int32_t timeout_ms = 0;

    static const Schema schema;
};

struct DeleteTopicsResponse {
    struct DeletableTopicResult {
        std::optional<std::string_view> name = "";  ///< may be null from v6
        Uuid topic_id;                              ///< v6
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message;  ///< v5 and later, may be null

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    Array<DeletableTopicResult> responses;

    static const Schema schema;
};

}  // namespace partita
