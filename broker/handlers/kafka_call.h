#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "broker/runtime/loop/reply.h"
#include "protocol/api_keys.h"

namespace partita::runtime {

/// A request of Kafka's protocol that is not answered yet: where its reply belongs, and all that is needed to encode it later.
struct KafkaCall {
    ReplyTarget target;
    const ApiInfo* api = nullptr;
    std::int16_t api_version = 0;
    std::int32_t correlation_id = 0;
    /// For how long a quota makes the client wait. The reply says so (ThrottleTimeMs), and the connection rests for as long.
    std::int32_t throttle_ms = 0;
    /// When its handler began, by the clock's stopwatch; 0 while nobody measures (RequestWatch).
    std::int64_t started_ns = 0;
    /// The group or the transactional id that the request names, of those whose replies do not say it; null for most.
    std::shared_ptr<const std::string> subject = nullptr;
};

}  // namespace partita::runtime
