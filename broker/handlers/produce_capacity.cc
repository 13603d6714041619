#include "broker/handlers/produce_capacity.h"

#include <algorithm>
#include <vector>

#include "broker/addons/capacity/shell/shared_capacity.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"
#include "protocol/record_batch.h"

namespace partita::handlers {
namespace {

using capacity::Load;
using capacity::Outcome;
using Ended = runtime::SharedCapacity::Ended;

// From here on topics are named by their ids alone.
constexpr std::int16_t kNamesTopicsById = 13;

/// The name of a topic of the request as the broker knows it; empty when there is none.
std::string_view known_name(runtime::RequestContext& context, const ProduceRequest::TopicProduceData& topic) {
    const runtime::TopicTable& table = context.turn.topics();
    const runtime::TopicState* found =
        context.version() >= kNamesTopicsById ? table.find(topic.topic_id) : table.find(topic.name);
    return found == nullptr ? std::string_view() : std::string_view(found->topic->name);
}

/// The worse of two: the broker's own failure comes first.
Outcome worse(Outcome one, Outcome other) {
    for (const Outcome outcome : {Outcome::server_error, Outcome::user_error, Outcome::throttled}) {
        if (one == outcome || other == outcome) {
            return outcome;
        }
    }
    return Outcome::successful;
}

}  // namespace

Load load_of(const Records& records) {
    const Bytes bytes = records.bytes();
    if (bytes.size() < kBatchHeaderBytes) {
        return {};
    }
    const auto header = parse_batch_header(bytes);
    return {.bytes = static_cast<std::int64_t>(bytes.size()), .events = header ? std::max(0, header->record_count) : 0};
}

Outcome outcome_of(ErrorCode error) {
    if (error == ErrorCode::none) {
        return Outcome::successful;
    }
    if (error == ErrorCode::policy_violation) {
        return Outcome::throttled;
    }
    const bool is_ours = error == ErrorCode::unknown_server_error || error == ErrorCode::kafka_storage_error ||
                         error == ErrorCode::request_timed_out;
    return is_ours ? Outcome::server_error : Outcome::user_error;
}

std::optional<std::int64_t> admit_to_capacity(runtime::RequestContext& context, const ProduceRequest& request) {
    Load asked;
    for (const ProduceRequest::TopicProduceData& topic : request.topic_data) {
        for (const ProduceRequest::PartitionProduceData& data : topic.partition_data) {
            asked = asked + load_of(data.records);
        }
    }
    const auto admission = context.services.capacity.admit_incoming(asked, request.timeout_ms, context.now());
    if (!admission.is_taken) {
        context.throttle(admission.wait_ms);
        return std::nullopt;
    }
    return admission.wait_ms;
}

void note_refused(runtime::RequestContext& context, const ProduceRequest& request, ErrorCode error) {
    std::vector<Ended> ended;
    ended.reserve(request.topic_data.count());
    for (const ProduceRequest::TopicProduceData& topic : request.topic_data) {
        ended.push_back({.topic = known_name(context, topic), .outcome = outcome_of(error), .load = {}});
    }
    context.services.capacity.note_incoming(ended);
}

void note_produced(runtime::Services& services, const runtime::StagedRequest& staged, std::span<const MeteredTopic> topics,
                   std::span<const ProduceResponse::PartitionProduceResponse> partitions) {
    std::vector<Ended> ended;
    ended.reserve(topics.size());
    // Both are in the order of the reply.
    auto batch = staged.partitions.begin();
    for (const MeteredTopic& topic : topics) {
        Ended& row = ended.emplace_back(topic.name);
        for (std::size_t index = topic.first; index < topic.end; ++index) {
            const ErrorCode error = partitions[index].error_code;
            row.outcome = worse(row.outcome, outcome_of(error));
            const bool is_staged = batch != staged.partitions.end() && batch->reply_index == index;
            if (is_staged && error == ErrorCode::none) {
                row.load = row.load + Load{static_cast<std::int64_t>(batch->size_bytes), batch->record_count};
            }
            if (is_staged) {
                ++batch;
            }
        }
    }
    services.capacity.note_incoming(ended);
}

}  // namespace partita::handlers
