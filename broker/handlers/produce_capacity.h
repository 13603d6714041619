#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "broker/addons/capacity/core/capacity_meter.h"
#include "broker/addons/capacity/core/traffic_counts.h"
#include "protocol/error_code.h"
#include "protocol/messages/00_produce.h"

namespace partita::runtime {
class RequestContext;
struct Services;
struct StagedRequest;
}  // namespace partita::runtime

/// What a Produce request takes of the capacity that all clients share (SharedCapacity). Only while there is a limit.

namespace partita::handlers {

/// What a batch counts, by its header: nobody has looked whether that is true. Nothing for what is too short to have one.
[[nodiscard]] capacity::Load load_of(const Records& records);

/// Takes what the request sends. Empty when it would have to wait for longer than its client does, and then has been counted as
/// throttled; the client is told when to come again. Otherwise for how many milliseconds it has to wait.
[[nodiscard]] std::optional<std::int64_t> admit_to_capacity(runtime::RequestContext& context, const ProduceRequest& request);

/// Counts a request that was refused whole.
void note_refused(runtime::RequestContext& context, const ProduceRequest& request, ErrorCode error);

/// One topic of a request that was admitted, and which of the reply's partitions are its. Its name lives to the end of the turn,
/// and is empty when there is no such topic.
struct MeteredTopic {
    std::string_view name;
    std::size_t first = 0;
    std::size_t end = 0;
};
/// Counts a request when its appends are written, or have failed. `partitions`: all of the reply's.
void note_produced(runtime::Services& services, const runtime::StagedRequest& staged, std::span<const MeteredTopic> topics,
                   std::span<const ProduceResponse::PartitionProduceResponse> partitions);

/// How a request has ended that was answered with this error, for a managed service's counts.
[[nodiscard]] capacity::Outcome outcome_of(ErrorCode error);

}  // namespace partita::handlers
