#pragma once

#include <cstdint>
#include <string>

#include "protocol/api_keys.h"
#include "protocol/found_errors.h"

namespace partita::runtime {

/// Facts to remember about a reply. Most replies have no notes.
struct ReplyNotes {
    const ApiInfo* api = nullptr;
    std::int16_t version = 0;
    FoundErrors errors;
    /// The request as one line, if the reply has errors and the request may be shown. Otherwise empty, and also for replies that
    /// came later.
    std::string request;
    /// From the request's header, as far as the header is available.
    std::string client_id;
    /// As KafkaCall's.
    std::string subject;
    /// When its handler began, by the clock's stopwatch; 0 if nothing measures it.
    std::int64_t started_ns = 0;
};

}  // namespace partita::runtime
