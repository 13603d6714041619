// DescribeTransactions: v0, flexible (KIP-664).

#include "protocol/messages/65_describe_transactions.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/repeats.h"
#include "broker/handlers/transaction_requests.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(describe_transactions, coordinators, access::kDescribeTransactionalId, access::kDescribeTopic);

namespace {

using Described = DescribeTransactionsResponse::TransactionState;
using Topic = DescribeTransactionsResponse::TopicData;

Array<Topic> topics_of(const runtime::RequestContext& context, const transactions::DescribeTransactionResult& result,
                       Arena& arena) {
    ArenaVector<Topic> topics(arena, result.topics.size());
    for (const transactions::DescribeTransactionResult::Topic& topic : result.topics) {
        if (!authorize(context, access::kDescribeTopic, topic.name)) {
            continue;
        }
        ArenaVector<std::int32_t> partitions(arena, topic.partitions.size());
        for (const PartitionIndex partition : topic.partitions) {
            partitions.push_back(partition.value);
        }
        topics.push_back({.topic = arena.copy(topic.name), .partitions = partitions});
    }
    return topics;
}

Described describe(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators,
                   std::string_view transactional_id) {
    Described described{.transactional_id = transactional_id};
    if (!authorize(context, access::kDescribeTransactionalId, transactional_id)) {
        described.error_code = ErrorCode::transactional_id_authorization_failed;
        return described;
    }
    const auto result =
        ask_coordinator(context, coordinators, transactions::DescribeTransaction{.transactional_id = transactional_id});
    described.error_code = result ? result->error : result.error();
    if (described.error_code != ErrorCode::none) {
        return described;
    }
    described.transaction_state = transactions::state_name(result->state);
    described.transaction_timeout_ms = result->timeout_ms;
    described.transaction_start_time_ms = result->start_timestamp.value;
    described.producer_id = result->producer.id.value;
    described.producer_epoch = result->producer.epoch.value;
    described.topics = topics_of(context, *result, context.arena());
    return described;
}

}  // namespace

void describe_transactions(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const DescribeTransactionsRequest* request = context.decode<DescribeTransactionsRequest>();
    if (request == nullptr) {
        return;
    }
    ArenaVector<Described> states(context.arena(), request->transactional_ids.count());
    Repeats<std::string_view> repeats;
    for (const std::string_view id : request->transactional_ids) {
        if (repeats.is_answered(id)) {
            states.push_back(describe(context, coordinators, id));
        }
    }
    DescribeTransactionsResponse response;
    response.transaction_states = states;
    context.reply(response);
}

}  // namespace partita::handlers
