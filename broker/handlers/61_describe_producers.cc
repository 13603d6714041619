// DescribeProducers: v0, flexible (KIP-664).

#include "protocol/messages/61_describe_producers.h"
#include "broker/catalog/commands.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/outcome_codes.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/repeats.h"
#include "broker/handlers/topic_lookup.h"
#include "broker/logs/turn.h"
#include "broker/runtime/queries/topic_producers.h"

namespace partita::handlers {

PARTITA_SERVES(describe_producers, access::kReadTopic);

namespace {

using PartitionResult = DescribeProducersResponse::PartitionResponse;
using Producer = DescribeProducersResponse::ProducerState;

PartitionResult describe(Arena& arena, const logs::Partition& partition, std::int32_t index) {
    const std::vector<ProducerSummary> active = runtime::partition_producers(partition);
    ArenaVector<Producer> producers(arena, active.size());
    for (const ProducerSummary& producer : active) {
        producers.push_back({.producer_id = producer.producer_id.value,
                             .producer_epoch = producer.producer_epoch.value,
                             .last_sequence = producer.last_sequence.value,
                             .last_timestamp = producer.last_timestamp.value,
                             .coordinator_epoch = producer.coordinator_epoch,
                             .current_txn_start_offset = producer.current_transaction_start.value});
    }
    return {.partition_index = index, .active_producers = producers};
}

}  // namespace

void describe_producers(runtime::RequestContext& context) {
    const DescribeProducersRequest* request = context.decode<DescribeProducersRequest>();
    if (request == nullptr) {
        return;
    }
    Arena& arena = context.arena();
    Repeats<const logs::Partition*> repeats;
    ArenaVector<DescribeProducersResponse::TopicResponse> topics(arena, request->topics.count());
    for (const DescribeProducersRequest::TopicRequest& topic : request->topics) {
        const logs::TopicState* state = context.turn.topics().find(topic.name);
        ErrorCode error = ErrorCode::none;
        std::optional<std::string_view> message;
        if (const auto problem = catalog::topic_name_problem(topic.name)) {
            error = ErrorCode::invalid_topic_exception;
            message = arena.copy(*problem);
        } else if (!authorize(context, access::kReadTopic, topic.name)) {
            error = ErrorCode::topic_authorization_failed;
            message = error_message(error);
        } else if (state == nullptr) {
            error = ErrorCode::unknown_topic_or_partition;
            message = error_message(error);
        }
        ArenaVector<PartitionResult> partitions(arena, topic.partition_indexes.count());
        for (const std::int32_t index : topic.partition_indexes) {
            if (error != ErrorCode::none) {
                partitions.push_back({.partition_index = index, .error_code = error, .error_message = message});
            } else if (const logs::PartitionLookup found = find_partition(context, state, index);
                       found.outcome != logs::Outcome::ok) {
                // An existing topic gets no text here, as in Kafka.
                partitions.push_back({.partition_index = index, .error_code = error_code(found.outcome)});
            } else if (repeats.is_answered(found.partition->get())) {
                partitions.push_back(describe(arena, **found.partition, index));
            }
        }
        topics.push_back({.name = topic.name, .partitions = partitions});
    }
    DescribeProducersResponse response;
    response.topics = topics;
    context.reply(response);
}

}  // namespace partita::handlers
