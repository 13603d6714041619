#pragma once

#include <cstdint>
#include <string_view>

#include "broker/logs/append.h"
#include "protocol/arena.h"
#include "protocol/error_code.h"
#include "protocol/messages/00_produce.h"

/// What clients are told of appends, in Kafka's words.

namespace partita::handlers {

/// Kafka's code and text for a batch that was refused.
struct AppendAnswer {
    ErrorCode error = ErrorCode::none;
    /// Empty where Kafka sends null. In the arena.
    std::string_view message;
};
/// `version`: of Produce, which decides what a client knows of transactions.
[[nodiscard]] AppendAnswer answer_of(const logs::Append& append, std::int16_t version, Arena& arena);

/// The answer to the request, of which `appends` has each partition in its order. In the arena; names are those of the request.
[[nodiscard]] ProduceResponse produce_response(const ProduceRequest& request, const logs::AppendRequest& appends,
                                               std::int16_t version, Arena& arena);

}  // namespace partita::handlers
