// AddPartitionsToTxn: v0-5.
//
//   up to v3: one transaction, from a client; v2: PRODUCER_FENCED; v3: flexible; v4: several transactions, for requests between
//   brokers, which may also only verify that the partitions were added; v5: for clients of KIP-890.
//
// The coordinator adds all partitions of a transaction or none: if one is refused, the others answer OPERATION_NOT_ATTEMPTED.

#include "protocol/messages/24_add_partitions_to_txn.h"

#include <algorithm>
#include <vector>

#include "broker/catalog/catalog.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/transaction_requests.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(add_partitions_to_txn, coordinators, access::kWriteTransactionalId, access::kWriteTopic,
                    access::kClusterAction);

namespace {

using Request = AddPartitionsToTxnRequest;
using Response = AddPartitionsToTxnResponse;
using TopicResult = Response::AddPartitionsToTxnTopicResult;
using PartitionResult = Response::AddPartitionsToTxnPartitionResult;

constexpr std::int16_t kKnowsFenced = 2;
constexpr std::int16_t kOfBrokers = 4;
constexpr std::int16_t kSecondProtocol = 5;

/// One transaction of a request, in any version.
struct Asked {
    std::string_view transactional_id;
    transactions::Producer producer;
    bool only_verifies = false;
    Array<Request::AddPartitionsToTxnTopic> topics;
};

/// One error for all partitions, or one for each in the order of the request.
class Errors {
  public:
    explicit Errors(ErrorCode all) : all_(all) {}
    explicit Errors(std::vector<ErrorCode> each) : each_(std::move(each)) {}

    [[nodiscard]] ErrorCode of(std::size_t partition) const { return each_.empty() ? all_ : each_[partition]; }

  private:
    ErrorCode all_ = ErrorCode::none;
    std::vector<ErrorCode> each_;
};

ErrorCode problem_with_topic(const runtime::RequestContext& context, std::string_view topic) {
    if (context.version() >= kOfBrokers) {
        return ErrorCode::none;
    }
    return catalog::is_internal_topic(topic) || !authorize(context, access::kWriteTopic, topic)
               ? ErrorCode::topic_authorization_failed
               : ErrorCode::none;
}

/// The error of each partition; empty if no partition has an error.
std::vector<ErrorCode> problems_of(const runtime::RequestContext& context, const Asked& asked) {
    std::vector<ErrorCode> problems;
    for (const Request::AddPartitionsToTxnTopic& topic : asked.topics) {
        const ErrorCode problem = problem_with_topic(context, topic.name);
        const logs::TopicState* state = context.turn.topics().find(topic.name);
        for (const std::int32_t partition : topic.partitions) {
            const bool is_there = state != nullptr && state->partition(partition) != nullptr;
            problems.push_back(problem == ErrorCode::none && !is_there ? ErrorCode::unknown_topic_or_partition : problem);
        }
    }
    if (std::ranges::all_of(problems, [](ErrorCode problem) { return problem == ErrorCode::none; })) {
        return {};
    }
    std::ranges::replace(problems, ErrorCode::none, ErrorCode::operation_not_attempted);
    return problems;
}

std::vector<transactions::WrittenPartition> partitions_of(const Asked& asked) {
    std::vector<transactions::WrittenPartition> partitions;
    for (const Request::AddPartitionsToTxnTopic& topic : asked.topics) {
        for (const std::int32_t partition : topic.partitions) {
            partitions.push_back({topic.name, PartitionIndex{partition}});
        }
    }
    return partitions;
}

Errors decide(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators, const Asked& asked) {
    if (context.version() < kOfBrokers && !authorize(context, access::kWriteTransactionalId, asked.transactional_id)) {
        return Errors(ErrorCode::transactional_id_authorization_failed);
    }
    if (auto problems = problems_of(context, asked); !problems.empty()) {
        return Errors(std::move(problems));
    }
    const std::vector<transactions::WrittenPartition> partitions = partitions_of(asked);
    if (asked.only_verifies) {
        auto verified = ask_coordinator(
            context, coordinators,
            transactions::VerifyPartitions{
                .transactional_id = asked.transactional_id, .producer = asked.producer, .partitions = partitions});
        return verified ? Errors(std::move(verified->errors)) : Errors(verified.error());
    }
    const auto added =
        ask_coordinator(context, coordinators,
                        transactions::AddPartitions{.transactional_id = asked.transactional_id,
                                                    .producer = asked.producer,
                                                    .partitions = partitions,
                                                    .client_version = client_version(context.version() >= kSecondProtocol)});
    return Errors(fenced_as_known(added ? added->error : added.error(), context.version(), kKnowsFenced));
}

Array<TopicResult> answer(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators,
                          const Asked& asked) {
    const Errors errors = decide(context, coordinators, asked);
    ArenaVector<TopicResult> topics(context.arena(), asked.topics.count());
    std::size_t position = 0;
    for (const Request::AddPartitionsToTxnTopic& topic : asked.topics) {
        ArenaVector<PartitionResult> partitions(context.arena(), topic.partitions.count());
        for (const std::int32_t partition : topic.partitions) {
            partitions.push_back({.partition_index = partition, .partition_error_code = errors.of(position++)});
        }
        topics.push_back({.name = topic.name, .results_by_partition = partitions});
    }
    return topics;
}

}  // namespace

void add_partitions_to_txn(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const Request* request = context.decode<Request>();
    if (request == nullptr) {
        return;
    }
    Response response;
    if (context.version() < kOfBrokers) {
        response.results_by_topic_v3_and_below =
            answer(context, coordinators,
                   {.transactional_id = request->v3_and_below_transactional_id,
                    .producer = producer_of(request->v3_and_below_producer_id, request->v3_and_below_producer_epoch),
                    .topics = request->v3_and_below_topics});
    } else if (!authorize_cluster(context, access::kClusterAction)) {
        response.error_code = ErrorCode::cluster_authorization_failed;
    } else {
        ArenaVector<Response::AddPartitionsToTxnResult> results(context.arena(), request->transactions.count());
        for (const Request::AddPartitionsToTxnTransaction& asked : request->transactions) {
            results.push_back({.transactional_id = asked.transactional_id,
                               .topic_results = answer(context, coordinators,
                                                       {.transactional_id = asked.transactional_id,
                                                        .producer = producer_of(asked.producer_id, asked.producer_epoch),
                                                        .only_verifies = asked.verify_only,
                                                        .topics = asked.topics})});
        }
        response.results_by_transaction = results;
    }
    context.reply(response);
}

}  // namespace partita::handlers
