#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "broker/runtime/loop/reply.h"
#include "protocol/api_keys.h"

namespace partita::runtime {

/// A request of Kafka's protocol that is not answered yet: the destination of its reply, and all that is needed to encode it
/// later.
struct KafkaCall {
    ReplyTarget target;
    const ApiInfo* api = nullptr;
    std::int16_t api_version = 0;
    std::int32_t correlation_id = 0;
    /// How long a quota makes the client wait, in milliseconds. The reply says so (ThrottleTimeMs), and the connection rests for
    /// as long.
    std::int32_t throttle_ms = 0;
    /// The start of its handler, by the clock's stopwatch; 0 if nothing measures latency (RequestWatch).
    std::int64_t started_ns = 0;
    /// The group or transactional id in the request, if its reply does not repeat it; null for most requests.
    std::shared_ptr<const std::string> subject = nullptr;
};

}  // namespace partita::runtime
