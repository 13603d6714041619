#pragma once

#include <cstdint>
#include <string_view>

#include "broker/handlers/shown_nodes.h"
#include "broker/logs/append.h"
#include "protocol/arena.h"
#include "protocol/error_code.h"
#include "protocol/messages/00_produce.h"

/// The answers to appends, in Kafka's form.

namespace partita::handlers {

/// Kafka's error code and text for a refused batch.
struct AppendAnswer {
    ErrorCode error = ErrorCode::none;
    /// Empty where Kafka sends null. Lives in the arena.
    std::string_view message;
};
/// `version` is the version of Produce, which determines the client's knowledge of transactions.
[[nodiscard]] AppendAnswer answer_of(const logs::Append& append, std::int16_t version, Arena& arena);

/// Where the leaders of batches are that came to the wrong node.
struct LeaderHints {
    /// By batch; without a leader where the batch came to the right node.
    Array<LeaderHint> leaders;
    Array<ProduceResponse::NodeEndpoint> nodes;
};

/// `hints` may be null. The answer to the request; `appends` has each partition in the request's order. The answer lives in the
/// arena, and its names are those of the request.
[[nodiscard]] ProduceResponse produce_response(const ProduceRequest& request, const logs::AppendRequest& appends,
                                               std::int16_t version, Arena& arena, const LeaderHints* hints = nullptr);

}  // namespace partita::handlers
