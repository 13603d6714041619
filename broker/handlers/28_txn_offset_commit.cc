// TxnOffsetCommit: v0-5.
//
//   v2: leader epoch; v3: generation and member, flexible; v4: TRANSACTION_ABORTABLE; v5: adds the group's partition to the
//   transaction, because clients of KIP-890 do not ask for that first.
//
// The handler answers topics and partitions that do not exist, one by one. For the rest it first asks the transaction's
// coordinator whether the transaction may write them, then the group's coordinator whether this member may. The connection
// belongs to a producer, so it does not count as the member's connection. Nor does the commit count as progress of the group:
// only the end of the transaction does (ReaderReports).

#include "protocol/messages/28_txn_offset_commit.h"
#include "broker/access/offer.h"
#include "broker/catalog/catalog.h"
#include "broker/config/current_config.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/offset_commits.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/topic_lookup.h"
#include "broker/handlers/transaction_requests.h"
#include "broker/insight/history/group_history.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/loop/upkeep_bell.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(txn_offset_commit, coordinators, access::kWriteTransactionalId, access::kReadGroup, access::kReadTopic);

namespace {

using Request = TxnOffsetCommitRequest;
using Response = TxnOffsetCommitResponse;

constexpr std::int16_t kKnowsAbortable = 4;
constexpr std::int16_t kSecondProtocol = 5;

using Collected = CollectedCommits<Response>;

/// The error of the transaction's coordinator for a partition, as this version knows it.
ErrorCode told_of_verification(ErrorCode error, std::int16_t version) {
    if (error == ErrorCode::producer_fenced) {
        return ErrorCode::invalid_producer_epoch;
    }
    return error == ErrorCode::transaction_abortable && version < kKnowsAbortable ? ErrorCode::invalid_txn_state : error;
}

/// Asks the transaction's coordinator to verify or add the group's partition.
ErrorCode verify(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators, const Request& request) {
    const auto shard = static_cast<std::int32_t>(coordinators.groups.shard_of(request.group_id));
    const transactions::WrittenPartition offsets{catalog::kOffsetsTopicName, PartitionIndex{shard}};
    const transactions::Producer producer = producer_of(request.producer_id, request.producer_epoch);
    if (context.version() >= kSecondProtocol) {
        const auto added = ask_coordinator(context, coordinators,
                                           transactions::AddPartitions{.transactional_id = request.transactional_id,
                                                                       .producer = producer,
                                                                       .partitions = {&offsets, 1},
                                                                       .client_version = client_version(true)});
        return added ? added->error : added.error();
    }
    const auto verified =
        ask_coordinator(context, coordinators,
                        transactions::VerifyPartitions{
                            .transactional_id = request.transactional_id, .producer = producer, .partitions = {&offsets, 1}});
    return verified ? verified->errors.front() : verified.error();
}

groups::OffsetCommitResult commit(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators,
                                  const Request& request, Collected& collected) {
    const access::Offer* const offer = context.services.extensions.offer;
    if (request.group_id.empty() || (offer != nullptr && !offer->accepts_group(request.group_id))) {
        return {.error = ErrorCode::invalid_group_id};
    }
    runtime::GroupShards& groups = coordinators.groups;
    if (!groups.is_attached() || !coordinators.transactions.is_attached()) {
        return {.error = ErrorCode::coordinator_not_available};
    }
    const bool is_second_protocol = context.version() >= kSecondProtocol;
    std::optional<TransactionVerification> verification;
    if (is_second_protocol || context.services.config->transaction_partition_verification_enable) {
        verification = groups.begin_verification(request.group_id, ProducerId{request.producer_id},
                                                 ProducerEpoch{request.producer_epoch}, is_second_protocol, context.now());
        if (!verification) {
            verification = kNotVerified;
        } else if (const ErrorCode error = verify(context, coordinators, request); error != ErrorCode::none) {
            return {.error = told_of_verification(error, context.version())};
        }
    }
    auto committed = groups.commit_in_transaction(context.turn,
                                                  {.offsets = {.group_id = request.group_id,
                                                               .generation = Generation{request.generation_id},
                                                               .member_id = request.member_id,
                                                               .group_instance_id = request.group_instance_id,
                                                               .retention_time_ms = -1,
                                                               .topics = {collected.topics.begin(), collected.topics.size()},
                                                               .api_version = context.version()},
                                                   .producer_id = ProducerId{request.producer_id},
                                                   .producer_epoch = ProducerEpoch{request.producer_epoch}},
                                                  verification);
    if (committed && insight::says_that_claim_is_over(committed->error)) {
        coordinators.bell.commit_refused();
    }
    return committed ? std::move(*committed) : groups::OffsetCommitResult{.error = ErrorCode::not_coordinator};
}

}  // namespace

void txn_offset_commit(runtime::RequestContext& context, const runtime::CoordinatorServices& coordinators) {
    const Request* request = context.decode<Request>();
    if (request == nullptr) {
        return;
    }
    if (!authorize(context, access::kWriteTransactionalId, request->transactional_id)) {
        return refuse_commits<Request, Response>(context, *request, ErrorCode::transactional_id_authorization_failed);
    }
    if (!authorize(context, access::kReadGroup, request->group_id)) {
        return refuse_commits<Request, Response>(context, *request, ErrorCode::group_authorization_failed);
    }
    Collected collected(context.arena(), request->topics.count());
    ArenaVector<Response::Topic> replies(context.arena(), request->topics.count());
    for (const Request::Topic& topic : request->topics) {
        // Kafka omits a topic without partitions from the reply.
        if (!topic.partitions.empty()) {
            const TopicLookup found = find_topic(context, topic.name, {}, false, access::kReadTopic);
            collect_commits<Request::Topic, Response>(context.arena(), topic, found, {}, collected, replies.emplace_back());
        }
    }
    // Without an existing partition, Kafka answers and asks no coordinator.
    if (!collected.topics.empty()) {
        const groups::OffsetCommitResult committed = commit(context, coordinators, *request, collected);
        for (std::size_t i = 0; i < collected.undecided.size(); ++i) {
            collected.undecided[i]->error_code =
                committed.partition_errors.empty() ? committed.error : committed.partition_errors[i];
        }
    }
    pass_commit_gate(context, request->group_id, collected);
    Response response;
    response.topics = replies;
    context.reply(response);
}

}  // namespace partita::handlers
