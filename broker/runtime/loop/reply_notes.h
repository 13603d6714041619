#pragma once

#include <cstdint>
#include <string>

#include "protocol/api_keys.h"
#include "protocol/found_errors.h"

namespace partita::runtime {

/// What is to be remembered of a reply. Most have none.
struct ReplyNotes {
    const ApiInfo* api = nullptr;
    std::int16_t version = 0;
    FoundErrors errors;
    /// The request as one line, where the reply has errors and the request may be shown; else, and of replies that came later,
    /// empty.
    std::string request;
    /// From the request's header, as far as it is at hand.
    std::string client_id;
    /// As KafkaCall's.
    std::string subject;
    /// When its handler began, by the clock's stopwatch; 0 when nobody measures.
    std::int64_t started_ns = 0;
};

}  // namespace partita::runtime
